"""The study of the paper on exponential integration of stiff contact: our numbers beside its.

    stiction study stiff-contact --quick

`study.py` lists the experiments; each is a module with `run(effort, tick) -> Experiment` and adds
one line there. `robots.py`, `plans.py` and `motion.py` make the motions, `truth.py` runs them,
`local_error.py` is the paper's measure, `integrators.py` names what is compared, `accuracy.py`
reports one motion, `claims.py` asks the paper's statements of it, `paper.py`
holds what the paper says. Beyond the paper: `drops.py`, `fingertips.py`, `mujoco_peer.py`; they use
`windows.py`, local errors of any scene.
"""
