//! Data graph pipelines of a single node of optical flow (VK_ARM_data_graph_optical_flow).

use crate::base::answer::{Answer, invalid};
use crate::base::given::In;
use crate::instance::data_graph::{FLOW_SIZES, flow_formats};
use crate::pipeline::pipeline_layout::Layout;
use gpu::graphs::Slot;
use gpu::graphs::flow::{COST, HINT, INPUT, Node, REFERENCE, VECTOR};
use graph::flow::{Effort, Flow};
use std::hash::{Hash, Hasher};
use vk::DataGraphOpticalFlowCreateFlagsARM as Flags;
use vk::DataGraphOpticalFlowImageUsageFlagsARM as Usage;
use vk::DataGraphOpticalFlowPerformanceLevelARM as Level;
use vk::DataGraphPipelineNodeConnectionTypeARM as Connection;

fn wrong<T>(why: &str) -> Answer<T> {
    Err(invalid(&format!("vkCreateDataGraphPipelinesARM: optical flow: {why}")))
}

/// Pixels of a cell's side; 0: not exactly one of the sizes.
fn grid(flags: vk::DataGraphOpticalFlowGridSizeFlagsARM) -> u32 {
    match flags.as_raw() {
        bits @ (1 | 2 | 4 | 8) => bits,
        _ => 0,
    }
}

/// Where a connection leads in sets of the layout: to an image.
fn slot(layout: &Layout, c: &vk::DataGraphPipelineSingleNodeConnectionARM) -> Option<Slot> {
    use vk::DescriptorType as Type;
    let set = layout.sets.get(c.set as usize)?.as_ref()?;
    let binding = &set.bindings[set.index(c.binding)?];
    let image =
        [Type::SAMPLED_IMAGE, Type::STORAGE_IMAGE, Type::COMBINED_IMAGE_SAMPLER].contains(&binding.ty);
    (image && binding.count > 0).then(|| Slot { set: c.set, offset: binding.place(0) })
}

fn flow(i: In<vk::DataGraphPipelineOpticalFlowCreateInfoARM>) -> Answer<Flow> {
    let size = [i.width, i.height];
    if !size.iter().all(|n| FLOW_SIZES.contains(n)) {
        return wrong(&format!("images of {size:?} pixels, of {FLOW_SIZES:?} each"));
    }
    let formats =
        [(i.image_format, Usage::INPUT), (i.flow_vector_format, Usage::OUTPUT), (i.cost_format, Usage::COST)];
    let costs = i.flags.contains(Flags::ENABLE_COST);
    for (format, usage) in formats.into_iter().take(2 + costs as usize) {
        if !flow_formats(usage).contains(&format) {
            return wrong(&format!("{format:?} is no format for {usage:?}"));
        }
    }
    let known = Flags::ENABLE_HINT | Flags::ENABLE_COST;
    let hinted = i.flags.contains(Flags::ENABLE_HINT);
    if grid(i.output_grid_size) == 0 || hinted && i.hint_grid_size != i.output_grid_size {
        return wrong("the grid size must be exactly one, and the hint's the same");
    }
    if !known.contains(i.flags) {
        return wrong("flags that there are not");
    }
    let effort = match i.performance_level {
        Level::SLOW => Effort::Slow,
        Level::MEDIUM => Effort::Medium,
        Level::FAST => Effort::Fast,
        _ => return wrong("no level of performance"),
    };
    Ok(Flow { size, grid: grid(i.output_grid_size), effort })
}

/// The node of a pipeline's creation, if it is of a single one.
pub(super) fn node(info: In<vk::DataGraphPipelineCreateInfoARM>, layout: &Layout) -> Answer<Option<Node>> {
    let Some(single) = info.find::<vk::DataGraphPipelineSingleNodeCreateInfoARM>() else { return Ok(None) };
    let of_flow = info.find::<vk::DataGraphPipelineOpticalFlowCreateInfoARM>();
    let of_flow = of_flow.or_else(|| single.find());
    let Some(i) = of_flow.filter(|_| single.node_type == vk::DataGraphPipelineNodeTypeARM::OPTICAL_FLOW)
    else {
        return wrong(
            "the only type of nodes, and its VkDataGraphPipelineOpticalFlowCreateInfoARM is missing",
        );
    };
    let mut node = Node { flow: flow(i)?, format: i.image_format, slots: [None; 5] };
    let places = [
        (Connection::OPTICAL_FLOW_INPUT, INPUT),
        (Connection::OPTICAL_FLOW_REFERENCE, REFERENCE),
        (Connection::OPTICAL_FLOW_HINT, HINT),
        (Connection::OPTICAL_FLOW_FLOW_VECTOR, VECTOR),
        (Connection::OPTICAL_FLOW_COST, COST),
    ];
    for c in single.connections().iter() {
        let place = places.iter().find(|p| p.0 == c.connection).map(|p| p.1);
        let Some(place) = place.filter(|p| node.slots[*p].is_none()) else {
            return wrong("a connection that there is not, or twice");
        };
        node.slots[place] = slot(layout, &c);
        if node.slots[place].is_none() {
            return wrong(&format!("the layout has no image at set {} binding {}", c.set, c.binding));
        }
    }
    let wants =
        [true, true, i.flags.contains(Flags::ENABLE_HINT), true, i.flags.contains(Flags::ENABLE_COST)];
    for (place, wanted) in wants.into_iter().enumerate() {
        match (wanted, node.slots[place]) {
            (true, None) => return wrong(&format!("nothing is connected to {:?}", places[place].0)),
            (false, Some(_)) => node.slots[place] = None,
            _ => {}
        }
    }
    Ok(Some(node))
}

/// A name for pipelines that compute the same.
pub(super) fn hash(node: &Node, h: &mut impl Hasher) {
    (node.flow, node.format.as_raw()).hash(h);
    node.slots.iter().for_each(|s| s.map(|s| (s.set, s.offset)).hash(h));
}
