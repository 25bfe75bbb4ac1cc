"""Reads a trace of `tuff run --trace` beside the metadata of layer_gpu_timeline, by the reader of Arm's viewer as it is.

Usage: join.py SOURCE TRACE METADATA. Prints JSON: `slices`, each with what the reader made of it, and `tags`, those of all
workloads that the metadata has.
"""

import json
import sys

source, trace, metadata = sys.argv[1:4]
sys.path.insert(0, source)

from lglpy.timeline.data.processed_trace import GPUTrace  # noqa: E402
from lglpy.timeline.data.raw_trace import RawTrace  # noqa: E402

raw = RawTrace(trace, metadata)
slices = []
for stream in GPUTrace(raw).streams.values():
    for work in stream:
        known = raw.metadata.get(work.tag_id)
        slices.append({
            'tag': work.tag_id,
            'stream': work.stream.name,
            'stage': work.stage.name,
            'type': type(work).__name__,
            'frame': known and known.submit.get_frame(),
            'labels': '/'.join(known.label_stack or []) if known else None,
        })
json.dump({'slices': slices, 'tags': list(raw.metadata)}, sys.stdout)
