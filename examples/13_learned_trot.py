"""A learned policy walks a quadruped where it is told.

Usage: 13_learned_trot.py [solo12 | go2 | rough] [replay.html]
"""

import sys

import numpy as np
from stiction.envs import (
    GO2_TROT,
    SOLO12_ROUGH,
    SOLO12_TROT,
    Go2Velocity,
    Policy,
    Solo12Rough,
    Solo12Velocity,
)
from stiction.record import Recorder
from stiction.replay import write_replay

COMMANDS = [(0.5, 0.0, 0.0), (0.0, 0.2, 0.0), (0.3, 0.0, 0.6), (0.0, 0.0, 0.0)]  # m/s, m/s, rad/s
WALKERS = {
    "solo12": ("Solo-12", Solo12Velocity, SOLO12_TROT),
    "go2": ("Go2", Go2Velocity, GO2_TROT),
    "rough": ("Solo-12 on rough ground", Solo12Rough, SOLO12_ROUGH),
}

arguments = sys.argv[1:]
robot = arguments.pop(0) if arguments and arguments[0] in WALKERS else "solo12"
name, Walker, file = WALKERS[robot]
policy = Policy.load(file)
env = Walker(autoreset="Disabled", episode_steps=100 * len(COMMANDS))
observation, _ = env.reset(seed=0)
# A recorder sees what a Simulator does: it takes the steps here, in a training the Batch does.
sim, state = env.batch.simulator(0), env.batch.state(0)
title = f"{name} trots as it is told, by a learned policy"
recorder = Recorder(sim, title=title, fps=40)
recorder.capture(state)
for command in COMMANDS:
    env.command[:] = command
    speeds = []
    for _ in range(100):  # 2 s
        env.act(policy(observation))
        control = env.batch.control(0)
        for _ in range(env.substeps):
            sim.step(state, control)
            recorder.after_step(state)
        env.batch.set_state(0, state)
        observation = env.observe()
        speeds.append(state.v[[0, 1, 5]])
    told, done = np.array(command), np.mean(speeds[50:], axis=0)
    print("told", told, "walks", np.round(done, 2))
if arguments:
    write_replay(arguments[0], recorder.replay())
