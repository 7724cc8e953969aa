"""256 Solo-12 on floors of different friction are pushed: how far do they slide?"""

import numpy as np
import stiction

NUM_WORLDS, PUSH = 256, 6.0  # [N]
scene = stiction.load("solo12")
friction = np.linspace(0.05, 0.8, NUM_WORLDS)


def slide(friction: np.ndarray) -> stiction.Batch:
    """Worlds with these frictions, pushed sideways for 0.3 s and left alone for 0.5 s."""
    batch = stiction.Batch(scene, len(friction), dt=1e-3, threads=2, configuration="standing")
    batch.assign("friction", friction)  # of all surfaces of a world
    batch.torque[:, 1] = PUSH  # of a free-flyer: a force in the axes of its body
    batch.step(substeps=300)
    batch.torque[:, 1] = 0.0
    batch.step(substeps=500)
    return batch


batch = slide(friction)
for world in range(0, NUM_WORLDS, 51):
    print(f"friction {friction[world]:.2f}: slid by {batch.q[world, 1] * 1e3:.1f} mm")
print(f"worst certificate: {batch.certificate.max():.0e}, status ok: {(batch.status == 0).all()}")

alone = slide(friction[17:18])
same = np.array_equal(batch.q[17], alone.q[0]) and np.array_equal(batch.v[17], alone.v[0])
print(f"world 17 alone is bit for bit the same: {same}")
assert same
