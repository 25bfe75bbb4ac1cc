#version 450
layout(early_fragment_tests) in;
layout(set=0,binding=3) buffer Counts { uint tiles[]; };
layout(push_constant) uniform P { uint tilesAcross; };
// One for every fragment that the real shader would have been run for.
void main(){ uvec2 tile=uvec2(gl_FragCoord.xy)>>6; atomicAdd(tiles[tile.y*tilesAcross+tile.x],1u); }
