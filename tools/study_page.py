"""Writes the tables between the markers of a study's page from a run of the study.

python tools/study_page.py STUDY RESULTS [FOLDER]

STUDY is contact-models, stiff-contact, differentiable or collision-derivatives. RESULTS is
benchmarks/results/<machine>.json, beside which the documents of the studies lie.

The folder of a run, such as build/study/contact-models, if one is given, is stored first: its
document beside the results as <machine>-<study>-study.json, some of its figures in docs/images.
"""

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from collision_tables import replace, table

IMAGES = Path("docs/images")


INTERNAL = ("Goals",)
"""Tables of a run that are for its authors: what was asked for and reached."""


@dataclass
class Page:
    path: Path
    prefix: str
    """Of the names of its images."""
    figures: dict[str, int]
    """Experiment -> number of the figure shown on the page."""


PAGES = {
    "contact-models": Page(
        Path("docs/contact_models.md"),
        "contact_models",
        {
            "table2_properties": 1,
            "fig9_drift": 2,
            "fig10_bounce": 2,
            "fig11_drag": 1,
            "fig12_mass_ratio": 2,
            "fig13_compliance": 1,
            "table3_time_steps": 1,
            "table4_tolerances": 2,
            "fig16_time_to_accuracy": 2,
            "profiles": 1,
            "trot": 1,
        },
    ),
    "differentiable": Page(
        Path("docs/differentiable_study.md"),
        "differentiable",
        {"modes": 1, "pairs": 1, "optimisation": 1, "kinks": 1},
    ),
    "collision-derivatives": Page(
        Path("docs/collision_derivatives_study.md"),
        "collision_derivatives",
        {"ycb_contact_points": 1},
    ),
    "stiff-contact": Page(
        Path("docs/stiff_contact_study.md"),
        "stiff_contact",
        {
            "squat": 1,
            "trot": 1,
            "jump": 1,
            "walk": 1,
            "fig4": 1,
            "fig5": 1,
            "fig6": 1,
            "drops": 1,
            "fingertips": 1,
            "mujoco": 2,
        },
    ),
}


def content_of(document: dict, page: Page) -> str:
    """Machine, set-ups, statements, and all tables under their experiments."""
    facts = document["facts"]
    parts = [
        f"{facts['cpu']}, {facts['date'][:10]}, share {facts['share of the full study']} of the "
        f"full study, seed {facts['seed']}, load of the machine {facts['load']}."
    ]
    for experiment in document["experiments"]:
        parts.append(f"## {experiment['title']}")
        if experiment.get("setup"):
            parts.append(experiment["setup"])
        claims = [[c["statement"], c["ours"], shown(c)] for c in experiment["claims"]]
        if claims:
            parts.append(table(["the paper says", "here", ""], claims))
        image = f"{page.prefix}_{experiment['name']}.svg"
        if experiment["name"] in page.figures:
            parts.append(f"![{experiment['title']}](images/{image})")
        for t in experiment["tables"]:
            if t["title"] in INTERNAL:
                continue
            parts.append(f"**{t['title']}**\n\n{table(t['columns'], t['rows'])}")
            if t["note"]:
                parts.append(t["note"])
        if experiment.get("explanation"):
            parts.append(experiment["explanation"])
    return "\n\n".join(parts)


def shown(claim: dict) -> str:
    """Statements that do not hold stand out."""
    return f"**{claim['verdict']}**" if claim["holds"] is False else claim["verdict"]


def store(folder: Path, document: Path, page: Page) -> None:
    """The study's document and figures, where the docs find them."""
    shutil.copyfile(folder / "study.json", document)
    for name, number in page.figures.items():
        source = folder / f"{name}_{number}.svg"
        if source.is_file():
            shutil.copyfile(source, IMAGES / f"{page.prefix}_{name}.svg")


def main(study: str, results: Path, folder: Path | None = None) -> None:
    page = PAGES[study]
    document = results.with_name(f"{results.stem}-{study}-study.json")
    if folder is not None:
        store(folder, document, page)
    content = content_of(json.loads(document.read_text()), page)
    page.path.write_text(replace(page.path.read_text(), "study", content))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in PAGES:
        sys.exit(__doc__)
    main(sys.argv[1], *(Path(argument) for argument in sys.argv[2:]))
