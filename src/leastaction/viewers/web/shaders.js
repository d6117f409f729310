const SOLID_VERTEX = `#version 300 es
layout(location=0) in vec3 corner;
layout(location=1) in vec3 normal;
layout(location=2) in float end;
layout(location=3) in vec3 place;
layout(location=4) in vec4 turn;      // w x y z
layout(location=5) in vec4 size;      // scale, then half the length
layout(location=6) in vec4 tint;
uniform mat4 camera;
uniform vec3 sun;
uniform float ground;
uniform bool shadow;
out vec3 at;
out vec3 facing;
out vec4 colour;
out float height;
flat out float depth;

vec3 turned(vec3 x) { return x + 2.0 * cross(turn.yzw, cross(turn.yzw, x) + turn.x * x); }

void main() {
  at = place + turned(corner * size.xyz + vec3(0.0, 0.0, end * size.w));
  facing = turned(normal / size.xyz);
  colour = tint;
  height = at.z - ground;
  depth = place.z - ground;           // one for all of a shape, or its shadow would be spotted
  if (shadow) at -= sun * height / sun.z;
  gl_Position = camera * vec4(at, 1.0);
}`;

const SOLID_PIXEL = `#version 300 es
precision highp float;
in vec3 at;
in vec3 facing;
in vec4 colour;
in float height;
flat in float depth;
uniform vec3 eye;
uniform vec3 sun;
uniform float reach;
uniform bool shadow;
uniform vec4 shade;
out vec4 pixel;

void main() {
  if (shadow) {
    if (height < 0.0) discard;
    pixel = vec4(shade.rgb, shade.a * exp(-0.55 * max(depth, 0.0) / reach));
    return;
  }
  vec3 n = normalize(facing), v = normalize(eye - at);
  if (dot(n, v) < 0.0) n = -n;        // open meshes are seen from inside as well
  vec3 base = pow(colour.rgb, vec3(2.2));
  float light = max(dot(n, sun), 0.0), fill = max(dot(n, normalize(vec3(-sun.y, sun.x, 0.35))), 0.0);
  vec3 sky = mix(vec3(0.30, 0.27, 0.25), vec3(0.62, 0.68, 0.76), 0.5 + 0.5 * n.z);
  float gloss = pow(max(dot(n, normalize(sun + v)), 0.0), 60.0);
  float rim = pow(1.0 - max(dot(n, v), 0.0), 4.0);
  vec3 lit = base * (sky * 0.75 + 1.25 * light * vec3(1.0, 0.97, 0.92) + 0.16 * fill) + 0.20 * gloss + 0.10 * rim;
  lit = lit / (1.0 + 0.18 * lit);
  pixel = vec4(pow(lit, vec3(1.0 / 2.2)), colour.a);
}`;

const RIBBON_VERTEX = `#version 300 es
layout(location=0) in vec3 point;
layout(location=1) in vec3 along;
layout(location=2) in vec2 side;      // which edge, and how fresh
uniform mat4 camera;
uniform vec3 eye;
uniform float width;
out float fresh;
void main() {
  vec3 across = cross(along, eye - point);
  float size = length(across);
  fresh = side.y;
  vec3 edge = size > 0.0 ? across / size : vec3(0.0);
  gl_Position = camera * vec4(point + side.x * width * (0.25 + 0.75 * fresh) * edge, 1.0);
}`;

const RIBBON_PIXEL = `#version 300 es
precision highp float;
in float fresh;
out vec4 pixel;
void main() { pixel = vec4(0.835, 0.369, 0.0, 0.8 * fresh * fresh); }`;

const FLOOR_VERTEX = `#version 300 es
layout(location=0) in vec2 corner;
uniform mat4 camera;
uniform vec3 middle;
uniform float extent;
out vec2 at;
void main() {
  at = middle.xy + extent * corner;
  gl_Position = camera * vec4(at, middle.z, 1.0);
}`;

const FLOOR_PIXEL = `#version 300 es
precision highp float;
in vec2 at;
uniform vec3 middle;
uniform float extent;
uniform float spacing;
uniform vec2 origin;
uniform vec3 sheet;
uniform vec3 line;
out vec4 pixel;

float lines(float step) {
  vec2 cell = (at + origin) / step, width = fwidth(cell);
  vec2 away = abs(fract(cell - 0.5) - 0.5) / max(width, 1e-6);
  vec2 ink = clamp(1.1 - away, 0.0, 1.0) * smoothstep(0.5, 0.1, width);
  return max(ink.x, ink.y);
}

void main() {
  float fade = 1.0 - smoothstep(0.15, 1.0, length(at - middle.xy) / extent);
  float ink = max(0.16 * lines(spacing), 0.30 * lines(5.0 * spacing));
  pixel = mix(vec4(sheet, 0.55 * fade * fade), vec4(line, 1.0), ink * fade);
  pixel.a *= fade;
}`;
