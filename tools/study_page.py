"""Writes the parts between the markers of a study's page, and its tables as CSV files.

python tools/study_page.py STUDY RESULTS [FOLDER]

STUDY is contact-models, stiff-contact, gjk, differentiable or collision-derivatives. RESULTS is
benchmarks/results/<machine>.json, beside which the documents of the studies lie.

The folder of a run, such as build/study/contact-models, if one is given, is stored first: its
document beside the results as <machine>-<study>-study.json, some of its figures in docs/images.
"""

import json
import shutil
import sys
from pathlib import Path

from stiction_lab.studies.page.content import TABLES, content, csv_files
from stiction_lab.studies.page.markdown import replace
from stiction_lab.studies.page.pages import PAGES, Page
from stiction_lab.studies.rulings.ruling import Stored

IMAGES = Path("docs/images")


def store(folder: Path, document: Path, page: Page) -> None:
    """The study's document and figures, where the docs find them. Of a run without some of the
    stored experiments, its own take their places; see `merged`."""
    found = json.loads((folder / "study.json").read_text())
    if document.is_file():
        found = merged(json.loads(document.read_text()), found)
    document.write_text(json.dumps(found, indent=1) + "\n")
    for name in page.figures:
        for number, image in page.images(name).items():
            source = folder / f"{name}_{number}.svg"
            if source.is_file():
                shutil.copyfile(source, IMAGES / image)


def merged(before: dict, found: dict) -> dict:
    """A stored document with the experiments of another run; that run alone if it has all.

    The facts are those of the run with more experiments; others say of which run they are.
    """
    new = {experiment["name"]: experiment for experiment in found["experiments"]}
    left = [old for old in before["experiments"] if old["name"] not in new]
    if not left:
        return found
    main, other = (found, before) if len(new) > len(left) else (before, found)
    run = {key: other["facts"][key] for key in ("cpu", "date", "load", "share of the full study")}
    names = [experiment["name"] for experiment in before["experiments"]]
    names += [name for name in new if name not in names]
    stored = {experiment["name"]: experiment for experiment in before["experiments"]} | new
    others = {experiment["name"] for experiment in (new.values() if other is found else left)}
    experiments = [
        stored[name] | ({"run": stored[name].get("run", run)} if name in others else {})
        for name in names
    ]
    return main | {"experiments": experiments}


def main(study: str, results: Path, folder: Path | None = None) -> None:
    page = PAGES[study]
    stored = Stored(results, study)
    if folder is not None:
        store(folder, stored.paths["study"], page)
    shutil.rmtree(TABLES / page.prefix, ignore_errors=True)
    for path, text in csv_files(stored.document("study"), page).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    page.path.write_text(replace(page.path.read_text(), "study", content(study, page, stored)))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in PAGES:
        sys.exit(__doc__)
    main(sys.argv[1], *(Path(argument) for argument in sys.argv[2:]))
