"""A block of jelly-like fluid that falls into a box: the material point method in its shortest form (MLS-MPM, "mpm88"),
on Taichi's Vulkan backend, without a window.

Arguments: the number of steps. Prints where the fluid is in the end, one number a line: `NAME VALUE`.
"""

import sys

import taichi as ti

STEPS = int(sys.argv[1])

ti.init(arch=ti.vulkan, offline_cache=False, log_level=ti.WARN)
if ti.lang.impl.current_cfg().arch != ti.vulkan:
    sys.exit("Taichi found no Vulkan device")

PARTICLES = 8192
GRID = 128
DX = 1 / GRID
DT = 2e-4
DENSITY = 1
VOLUME = (DX * 0.5) ** 2
MASS = VOLUME * DENSITY
GRAVITY = 9.8
MARGIN = 3
STIFFNESS = 400

position = ti.Vector.field(2, float, PARTICLES)
velocity = ti.Vector.field(2, float, PARTICLES)
affine = ti.Matrix.field(2, 2, float, PARTICLES)
ratio = ti.field(float, PARTICLES)  # of volume, now to the beginning
grid_velocity = ti.Vector.field(2, float, (GRID, GRID))
grid_mass = ti.field(float, (GRID, GRID))


@ti.func
def weights(at):
    """The cell below and left of a position, the offset from it, and the quadratic weights of three cells each way."""
    base = int(at / DX - 0.5)
    offset = at / DX - base
    return base, offset, [0.5 * (1.5 - offset) ** 2, 0.75 - (offset - 1) ** 2, 0.5 * (offset - 0.5) ** 2]


@ti.kernel
def begin():
    for i in position:
        # A lattice: the same on every machine.
        position[i] = [0.2 + 0.4 * ((i % 128) + 0.5) / 128, 0.2 + 0.4 * ((i // 128) + 0.5) / 64]
        velocity[i] = [0, -1]
        ratio[i] = 1


@ti.kernel
def step():
    for i, j in grid_mass:
        grid_velocity[i, j] = [0, 0]
        grid_mass[i, j] = 0
    for p in position:
        base, offset, w = weights(position[p])
        stress = -DT * 4 * STIFFNESS * VOLUME * (ratio[p] - 1) / DX**2
        matrix = ti.Matrix([[stress, 0], [0, stress]]) + MASS * affine[p]
        for i, j in ti.static(ti.ndrange(3, 3)):
            way = (ti.Vector([i, j]) - offset) * DX
            weight = w[i].x * w[j].y
            grid_velocity[base + ti.Vector([i, j])] += weight * (MASS * velocity[p] + matrix @ way)
            grid_mass[base + ti.Vector([i, j])] += weight * MASS
    for i, j in grid_mass:
        if grid_mass[i, j] > 0:
            grid_velocity[i, j] /= grid_mass[i, j]
        grid_velocity[i, j].y -= DT * GRAVITY
        if i < MARGIN and grid_velocity[i, j].x < 0:
            grid_velocity[i, j].x = 0
        if i > GRID - MARGIN and grid_velocity[i, j].x > 0:
            grid_velocity[i, j].x = 0
        if j < MARGIN and grid_velocity[i, j].y < 0:
            grid_velocity[i, j].y = 0
        if j > GRID - MARGIN and grid_velocity[i, j].y > 0:
            grid_velocity[i, j].y = 0
    for p in position:
        base, offset, w = weights(position[p])
        new_velocity = ti.Vector.zero(float, 2)
        new_affine = ti.Matrix.zero(float, 2, 2)
        for i, j in ti.static(ti.ndrange(3, 3)):
            way = (ti.Vector([i, j]) - offset) * DX
            weight = w[i].x * w[j].y
            there = grid_velocity[base + ti.Vector([i, j])]
            new_velocity += weight * there
            new_affine += 4 * weight * there.outer_product(way) / DX**2
        velocity[p] = new_velocity
        position[p] += DT * new_velocity
        ratio[p] *= 1 + DT * new_affine.trace()
        affine[p] = new_affine


begin()
for _ in range(STEPS):
    step()
at = position.to_numpy()
moving = velocity.to_numpy()
for name, value in [
    ("mean_x", at[:, 0].mean()),
    ("mean_y", at[:, 1].mean()),
    ("lowest", at[:, 1].min()),
    ("widest", at[:, 0].max() - at[:, 0].min()),
    ("speed", (moving**2).sum(axis=1).mean() ** 0.5),
]:
    print(f"{name} {value:.6f}")
