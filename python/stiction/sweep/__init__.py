"""Many runs of one kind, on many processes or machines: sweeps over parameters, data, rollouts.

    from stiction.sweep import SceneRuns, run
    runs = SceneRuns("solo12", grid={"friction": [0.3, 0.6, 0.9]}, samples=100, seconds=2.0)
    table = run(runs, workers=0)             # in this process
    run(runs, workers=8, out="friction")     # on 8 processes of Ray, to friction/*.parquet

Worlds are done in chunks, each a function of its numbers alone: which process does one, in which
order, and how often one dies on the way makes no bit of difference. The command is `stiction
sweep`. Needs `pip install ray pyarrow`, for runs in this process without files only NumPy.
"""

from .engine import Runs, SweepError, run
from .scene_runs import SceneRuns
from .spec import from_toml
from .table import read
from .task_runs import TaskRuns

__all__ = ["Runs", "SceneRuns", "SweepError", "TaskRuns", "from_toml", "read", "run"]
