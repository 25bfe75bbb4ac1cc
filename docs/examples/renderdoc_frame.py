"""Captures a frame of a program with RenderDoc, replays it, and prints what each draw cost and one pixel's history.

renderdoc_frame.py FRAME PROGRAM [ARGUMENT…], with VK_DRIVER_FILES as `tuff run` sets it and a screen (DISPLAY). It needs Debian's python3-renderdoc.
"""

import os
import sys
import tempfile
import time

import renderdoc as rd

#: Of the counters that Tuff's VK_KHR_performance_query offers and RenderDoc lists.
SHOWN = ("Input Vertices Read", "Rasterized Primitives", "PS Invocations", "GPU active cycles", "Arithmetic FMA pipe instructions", "Output external write bytes")

#: Seconds until a program must have presented the frame.
PATIENCE = 120


def captured(frame, command, folder):
    """The file of the captured frame."""
    options = rd.GetDefaultCaptureOptions()
    log = os.path.join(folder, "capture")
    started = rd.ExecuteAndInject(command[0], os.getcwd(), " ".join(command[1:]), [], log, options, False)
    target = rd.CreateTargetControl("", started.ident, "tuff", True)
    if target is None:
        sys.exit(f"{command[0]} did not start under RenderDoc")
    target.QueueCapture(frame, 1)
    path, end = None, time.monotonic() + PATIENCE
    while path is None and time.monotonic() < end:
        message = target.ReceiveMessage(None)
        if message.type == rd.TargetControlMessageType.NewCapture:
            path = message.newCapture.path
        elif message.type == rd.TargetControlMessageType.Disconnected:
            break
    target.Shutdown()
    return path or sys.exit(f"no frame {frame} was presented")


def draws(actions):
    for action in actions:
        if action.flags & rd.ActionFlags.Drawcall:
            yield action
        yield from draws(action.children)


def main(frame, *command):
    rd.InitialiseReplay(rd.GlobalEnvironment(), [])
    with tempfile.TemporaryDirectory() as folder:
        file = rd.OpenCaptureFile()
        file.OpenFile(captured(int(frame), command, folder), "", None)
        result, replay = file.OpenCapture(rd.ReplayOptions(), None)
        if replay is None:
            sys.exit(f"replay: {result}")
        counters = replay.EnumerateCounters()
        known = {c: replay.DescribeCounter(c) for c in counters}
        print(f"{len(counters)} counters")
        wanted = [c for c in counters if known[c].name in SHOWN]
        values = {(v.eventId, known[v.counter].name): v for v in replay.FetchCounters(wanted)}
        integer = {d.name: d.resultType == rd.CompType.UInt and d.resultByteWidth == 8 for d in known.values()}
        all_draws = list(draws(replay.GetRootActions()))
        for draw in all_draws:
            name = draw.GetName(replay.GetStructuredFile())
            cost = {n: values[draw.eventId, n].value for n in SHOWN if (draw.eventId, n) in values}
            text = ", ".join(f"{n} {v.u64 if integer[n] else v.d:g}" for n, v in cost.items())
            print(f"draw {name} {draw.numIndices}: {text}")
        last = all_draws[-1]
        replay.SetFrameEvent(last.eventId, True)
        target = last.outputs[0]
        size = next(t for t in replay.GetTextures() if t.resourceId == target)
        x, y = size.width // 2, size.height // 2
        for change in replay.PixelHistory(target, x, y, rd.Subresource(0, 0, 0), rd.CompType.Typeless):
            colour = [round(c * 255) for c in list(change.postMod.col.floatValue)[:3]]
            print(f"pixel {x} {y} after event {change.eventId}: {colour}{'' if change.Passed() else ' (rejected)'}")
        replay.Shutdown()
        file.Shutdown()
    rd.ShutdownReplay()


if __name__ == "__main__":
    main(*sys.argv[1:])
