"""The study of the paper on contact models: our numbers beside the paper's.

    stiction study contact-models --quick

`study.py` lists the experiments; each is a module with `run(effort, tick) -> Experiment` and adds
one line there. `paper.py` holds what the paper says, `solvers.py` the solvers with their colours,
`cubes.py` the cube that slides, is dragged or stands on another, `simulate.py` a run with all that
the figures need, `lines.py` draws curves over time. The paper: Le Lidec, Jallet, Montaut, Laptev,
Schmid, Carpentier, "Contact Models in Robotics: a Comparative Analysis", 2024.
"""
