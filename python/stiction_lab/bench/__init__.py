"""Benchmarks against a peer engine: the same scenes, the same statistic, the same certificate.

    stiction bench step solo12 --peer mujoco
    stiction bench solvers --classes solo,talos
    stiction bench all

`worlds.py` says what an engine must offer, `ours.py` and `peer.py` are the two engines,
`peer_models.py` and `catalogue.py` build the scenes, `agreement.py` refuses unequal work,
`measure.py` holds the statistic, `step.py` puts a scene through all of it. The peer (PyPI `mujoco`)
is imported only when a benchmark runs.
"""
