"""A learned policy walks Solo-12 where it is told.

Usage: 13_learned_trot.py [replay.html]
"""

import sys

import numpy as np
from stiction.envs import SOLO12_TROT, Policy, Solo12Velocity
from stiction.record import Recorder
from stiction.replay import write_replay

COMMANDS = [(0.5, 0.0, 0.0), (0.0, 0.2, 0.0), (0.3, 0.0, 0.6), (0.0, 0.0, 0.0)]  # m/s, m/s, rad/s

policy = Policy.load(SOLO12_TROT)
env = Solo12Velocity(autoreset="Disabled", episode_steps=100 * len(COMMANDS))
observation, _ = env.reset(seed=0)
# A recorder sees what a Simulator does: it takes the steps here, in a training the Batch does.
sim, state = env.batch.simulator(0), env.batch.state(0)
recorder = Recorder(sim, title="Solo-12 trots as it is told, by a learned policy")
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
if len(sys.argv) > 1:
    write_replay(sys.argv[1], recorder.replay())
