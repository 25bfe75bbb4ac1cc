# A picture of pygfx, without a window.
import numpy as np
import pygfx as gfx
from rendercanvas.offscreen import RenderCanvas

canvas = RenderCanvas(size=(64, 64), pixel_ratio=1)
renderer = gfx.renderers.WgpuRenderer(canvas)
scene = gfx.Scene()
scene.add(gfx.Background.from_color("#f00"))
camera = gfx.OrthographicCamera(64, 64)
canvas.request_draw(lambda: renderer.render(scene, camera))
pixel = np.asarray(canvas.draw())[32, 32]
print("device:", renderer.device.adapter.info["device"])
assert tuple(pixel) == (255, 0, 0, 255), pixel
