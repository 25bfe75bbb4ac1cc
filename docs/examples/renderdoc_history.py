"""Captures a frame of a program with RenderDoc and prints the history of pixels of what its first draw draws to, a JSON object a line.

renderdoc_history.py X,Y[;X,Y…] FRAME PROGRAM [ARGUMENT…], with VK_DRIVER_FILES as `tuff run` sets it and a screen (DISPLAY). It needs Debian's
python3-renderdoc. `tuff frame CAPTURE --pixel X,Y --json` says the same of a frame that Tuff has recorded.
"""

import json
import sys
import tempfile

import renderdoc as rd
from renderdoc_frame import captured, draws


#: What stops a fragment, as `tuff frame` calls it.
STOPS = (
    ("scissorClipped", "scissored"),
    ("backfaceCulled", "culled"),
    ("shaderDiscarded", "discarded"),
    ("depthBoundsFailed", "depth bounds failed"),
    ("stencilTestFailed", "stencil test failed"),
    ("depthTestFailed", "depth test failed"),
    ("sampleMasked", "masked"),
)


def told(change, names):
    def value(v):
        return {"colour": list(v.col.floatValue), "depth": v.depth}

    drawn = change.eventId in names
    return {
        # Of the frame's draws, from 0; clears and what the frame begins with have none.
        "draw": names.get(change.eventId),
        "primitive": change.primitiveID if drawn else None,
        "result": next((name for key, name in STOPS if getattr(change, key)), "passed"),
        "shader": value(change.shaderOut) if drawn else None,
        "before": value(change.preMod),
        "after": value(change.postMod),
    }


def main(pixels, frame, *command):
    rd.InitialiseReplay(rd.GlobalEnvironment(), [])
    with tempfile.TemporaryDirectory() as folder:
        file = rd.OpenCaptureFile()
        file.OpenFile(captured(int(frame), command, folder), "", None)
        result, replay = file.OpenCapture(rd.ReplayOptions(), None)
        if replay is None:
            sys.exit(f"replay: {result}")
        all_draws = list(draws(replay.GetRootActions()))
        target = all_draws[0].outputs[0]
        # (A history is of what has happened up to an event.)
        of_target = [d for d in all_draws if d.outputs[0] == target]
        replay.SetFrameEvent(of_target[-1].eventId, True)
        numbers = {d.eventId: n for n, d in enumerate(all_draws)}
        for pixel in pixels.split(";"):
            x, y = map(int, pixel.split(","))
            history = replay.PixelHistory(target, x, y, rd.Subresource(0, 0, 0), rd.CompType.Typeless)
            for change in history:
                print(json.dumps({"pixel": pixel, **told(change, numbers)}))
        replay.Shutdown()
        file.Shutdown()
    rd.ShutdownReplay()


if __name__ == "__main__":
    main(*sys.argv[1:])
