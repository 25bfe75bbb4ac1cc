//! Acceleration structures, ray queries and ray tracing pipelines through the real loader. Expected values are worked out by hand from
//! the scene in [`scene`].

mod binaries;
mod bound;
mod captured;
mod copies;
mod everywhere;
mod hostile;
mod measured;
mod micromaps;
mod objects;
mod pipelines;
mod queries;
mod scene;
mod unit;
