#version 460
#extension GL_EXT_buffer_reference : require
// One access to an address that may be another device's, by all lanes or by one among others.
layout(local_size_x = 32) in;
layout(constant_id = 0) const uint way = 0;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint words[]; };
layout(push_constant) uniform Push { Words theirs; Words own; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    Words place = own;
    if (i == 5) {
        place = theirs;
    }
    switch (way) {
    case 0: theirs.words[0] = 7; break;
    case 1: theirs.words[i] = 7; break;
    case 2: place.words[i] = 7; break;
    case 3: own.words[0] = theirs.words[0]; break;
    case 4: own.words[i] = theirs.words[i]; break;
    case 5: own.words[i] = place.words[32 + i]; break;
    case 6: own.words[0] = atomicAdd(theirs.words[0], 7); break;
    case 7: atomicOr(place.words[i], 7); break;
    }
}
