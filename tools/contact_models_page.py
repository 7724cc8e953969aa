"""Writes the tables between the markers of docs/contact_models.md from a run of the study.

python tools/contact_models_page.py benchmarks/results/<machine>.json [build/study/contact-models]

The folder of a run, if one is given, is stored first: its document beside the results as
<machine>-contact-models-study.json, some of its figures in docs/images.
"""

import json
import shutil
import sys
from pathlib import Path

from collision_tables import replace, table

PAGE = Path("docs/contact_models.md")
IMAGES = Path("docs/images")
FIGURES = {
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
}
"""Experiment -> number of the figure shown on the page."""


def page(document: dict) -> str:
    """Machine, statements, and all tables under their experiments."""
    facts = document["facts"]
    parts = [
        f"{facts['cpu']}, {facts['date'][:10]}, share {facts['share of the full study']} of the "
        f"full study, seed {facts['seed']}."
    ]
    for experiment in document["experiments"]:
        parts.append(f"### {experiment['title']}")
        claims = [[c["statement"], c["ours"], shown(c)] for c in experiment["claims"]]
        parts.append(table(["the paper says", "here", ""], claims))
        image = f"contact_models_{experiment['name']}.svg"
        if experiment["name"] in FIGURES:
            parts.append(f"![{experiment['title']}](images/{image})")
        for t in experiment["tables"]:
            parts.append(f"**{t['title']}**\n\n{table(t['columns'], t['rows'])}")
            if t["note"]:
                parts.append(t["note"])
    return "\n\n".join(parts)


def shown(claim: dict) -> str:
    """Statements that do not hold stand out."""
    return f"**{claim['verdict']}**" if claim["holds"] is False else claim["verdict"]


def store(folder: Path, document: Path) -> None:
    """The study's document and figures, where the docs find them."""
    shutil.copyfile(folder / "study.json", document)
    for name, number in FIGURES.items():
        source = folder / f"{name}_{number}.svg"
        if source.is_file():
            shutil.copyfile(source, IMAGES / f"contact_models_{name}.svg")


def main(results: Path, folder: Path | None = None) -> None:
    document = results.with_name(f"{results.stem}-contact-models-study.json")
    if folder is not None:
        store(folder, document)
    content = page(json.loads(document.read_text()))
    PAGE.write_text(replace(PAGE.read_text(), "study", content))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*(Path(argument) for argument in sys.argv[1:]))
