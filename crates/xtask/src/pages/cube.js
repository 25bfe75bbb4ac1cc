'use strict';
/** Positions and normals of a cube's 36 vertices. */
const CUBE = new Float32Array([0, 1, 2].flatMap(axis => [-1, 1].flatMap(side =>
    [[-1, -1], [1, -1], [-1, 1], [-1, 1], [1, -1], [1, 1]].flatMap(([u, v]) => {
        const p = [0, 0, 0], n = [0, 0, 0];
        p[axis] = n[axis] = side;
        p[(axis + 1) % 3] = u;
        p[(axis + 2) % 3] = v * side;
        return [...p, ...n];
    }))));
