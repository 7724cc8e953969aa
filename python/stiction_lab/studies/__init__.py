"""Studies: published experiments rebuilt with stiction, our numbers beside the paper's.

    stiction study gjk --quick

`experiment.py` says what an experiment gives (tables, figures, claims, raw rows), `problems.py`
makes pairs of shapes at given distances, `objects.py` the shapes, `paper.py` holds what the paper
printed, `report.py` writes one HTML page and the CSV files. One file per experiment of the GJK++
paper (Montaut, Le Lidec, Petrik, Sivic, Carpentier, "GJK++: Leveraging Acceleration Methods for
Faster Collision Detection", 2024): `ellipsoids.py`, `meshes.py`, `vertex_counts.py`,
`quadratic_programs.py`, `frank_wolfe.py`, `funnel.py`.

    stiction study measured-tosses --quick

compares contact models with measured tosses of a cube: `tosses.py` reads them and fits their free
flight, `toss_models.py` holds what predicts them, `toss_fit.py` fits and judges it,
`toss_tables.py` shows the result, `measured_tosses.py` runs all.
"""
