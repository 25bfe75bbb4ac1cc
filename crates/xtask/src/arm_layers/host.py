"""Arm's host side for `cargo xtask arm-layers`: the server and services of libGPULayers' lglpy, as they are.

Usage: host.py SOURCE FOLDER. Says "ready" when layers can connect; ends when its input does, after all that clients have
sent was handled. Leaves FOLDER/profile/*.csv (layer_gpu_profile) and FOLDER/timeline.json (layer_gpu_timeline).
"""

import json
import os
import socket
import struct
import sys
import threading

source, folder = sys.argv[1:3]
sys.path.insert(0, source)

from lglpy.comms import server, service_gpu_timeline, service_log  # noqa: E402
from lglpy.comms import service_gpu_profile  # noqa: E402

# Their server listens on TCP, to which adb leads from an Android device's abstract socket. Here the layers are on this
# machine, so that the server gets the socket itself.
comms = server.CommsServer(0)
comms.sockl.close()
comms.sockl = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
comms.sockl.bind('\0lglcomms')
comms.sockl.listen(1)

raw = os.path.join(folder, 'timeline.raw')
timeline = service_gpu_timeline.GPUTimelineService(raw)
profile = service_gpu_profile.GPUProfileService(os.path.join(folder, 'profile'))
for service in (service_log.LogService(), profile, timeline):
    comms.register_endpoint(service)
threading.Thread(target=comms.run, daemon=True).start()
print('ready', flush=True)
sys.stdin.read()

# Clients have gone: their threads end when everything is read.
for worker in comms.workers:
    worker.join()
timeline.file_handle.flush()
# A program without presents has a frame that never ends.
if profile.table_header and profile.table_header[0] == 'Index':
    profile.handle_end_frame({'type': 'end_frame'})

frames = []
with open(raw, 'rb') as data:
    while header := data.read(4):
        frames.append(json.loads(data.read(struct.unpack('<I', header)[0])))
with open(os.path.join(folder, 'timeline.json'), 'w', encoding='utf-8') as out:
    json.dump(frames, out)
os._exit(0)
