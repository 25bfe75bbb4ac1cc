//! What a demo's child is asked about the city.

use super::{City, Pipelines, paths};
use ash::vk;
use client::measure::Moment;
use client::{Context, Error, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::rc::Rc;

#[derive(Serialize, Deserialize, Clone, Debug)]
pub enum Ask {
    /// Create the pipelines and draw the first frame. Meaningful once per process.
    First,
    /// Draw frames for about so many milliseconds.
    Frames { budget_ms: u64 },
    /// Draw a frame and write its RGBA bytes there, and the cores' cycles of each tile as 32-bit words, if the driver counts by
    /// region.
    Picture { rgba: PathBuf, heat: PathBuf },
    /// Trace the picture of paths at this size and write its RGBA bytes there.
    Paths { size: [u32; 2], rgba: PathBuf },
}

#[derive(Serialize, Deserialize, Clone, Debug)]
pub enum Answer {
    /// Seconds a frame.
    Span {
        wall: f64,
        cpu: f64,
    },
    Drawn {
        triangles: u32,
    },
    /// Seconds (wall, CPU) of the structures' build, of the pipeline's creation and picture; by
    /// bounce the rays of paths and those to the sun.
    Traced {
        build: [f64; 2],
        picture: [f64; 2],
        rays: Vec<[u32; 2]>,
    },
}

struct Ready {
    city: City,
    commands: vk::CommandBuffer,
    _pipelines: Pipelines,
    first: Answer,
}

/// Answers to requests of the session's own kind, with what is kept from one to the next.
#[derive(Default)]
pub struct Memory(Option<Ready>);

impl Memory {
    pub fn answer(&mut self, context: &Rc<Context>, ask: serde_json::Value) -> Result<serde_json::Value> {
        let ask = serde_json::from_value(ask).map_err(|e| Error(format!("bad request: {e}")))?;
        if let Ask::Paths { size, rgba } = ask {
            let answer = serde_json::to_value(traced(size, &rgba)?);
            return answer.map_err(|e| Error(e.to_string()));
        }
        if self.0.is_none() {
            let city = City::new(context)?;
            let start = Moment::now();
            let pipelines = city.pipelines()?;
            let commands = city.record(&pipelines)?;
            context.submit_and_wait(commands)?;
            let span = start.elapsed();
            let first = Answer::Span { wall: span.wall, cpu: span.cpu };
            self.0 = Some(Ready { city, commands, _pipelines: pipelines, first });
        }
        let answer = self.0.as_mut().expect("set up above").answer(context, ask)?;
        serde_json::to_value(answer).map_err(|e| Error(e.to_string()))
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|e| Error::file(path, e))
}

fn traced(size: [u32; 2], rgba: &Path) -> Result<Answer> {
    let traced = paths::trace(size)?;
    write(rgba, &traced.rgba)?;
    let [build, picture] = [traced.build, traced.picture].map(|s| [s.wall, s.cpu]);
    Ok(Answer::Traced { build, picture, rays: traced.rays })
}

impl Ready {
    fn answer(&mut self, context: &Rc<Context>, ask: Ask) -> Result<Answer> {
        match ask {
            Ask::First => Ok(self.first.clone()),
            Ask::Frames { budget_ms } => {
                let start = Moment::now();
                let mut frames = 0.0;
                loop {
                    context.submit_and_wait(self.commands)?;
                    frames += 1.0;
                    let span = start.elapsed();
                    if span.wall * 1e3 >= budget_ms as f64 {
                        return Ok(Answer::Span { wall: span.wall / frames, cpu: span.cpu / frames });
                    }
                }
            }
            Ask::Picture { rgba, heat } => {
                context.submit_and_wait(self.commands)?;
                write(&rgba, &self.city.picture()?)?;
                let counts = City::heat_map()?;
                write(&heat, &counts.iter().flat_map(|c| c.to_le_bytes()).collect::<Vec<_>>())?;
                Ok(Answer::Drawn { triangles: self.city.triangles() })
            }
            Ask::Paths { size, rgba } => traced(size, &rgba),
        }
    }
}
