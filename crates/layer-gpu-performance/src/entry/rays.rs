//! Workloads of ray tracing: traces, builds and copies of acceleration structures and micromaps.

use super::commands::{workload, workloads};
use super::{Function, function, functions};
use crate::recorded::WorkloadKind;
use crate::table::next;
use ash::vk;

functions! {
    pub(super) fn lookup;
    b"vkCmdTraceRaysKHR" => trace_rays, PFN_vkCmdTraceRaysKHR;
    b"vkCmdTraceRaysIndirectKHR" => trace_rays_indirect, PFN_vkCmdTraceRaysIndirectKHR;
    b"vkCmdTraceRaysIndirect2KHR" => trace_rays_indirect2, PFN_vkCmdTraceRaysIndirect2KHR;
    b"vkCmdBuildAccelerationStructuresKHR" => build, PFN_vkCmdBuildAccelerationStructuresKHR;
    b"vkCmdBuildAccelerationStructuresIndirectKHR" => build_indirect, PFN_vkCmdBuildAccelerationStructuresIndirectKHR;
    b"vkCmdCopyAccelerationStructureKHR" => copy, PFN_vkCmdCopyAccelerationStructureKHR;
    b"vkCmdCopyAccelerationStructureToMemoryKHR" => copy_to_memory, PFN_vkCmdCopyAccelerationStructureToMemoryKHR;
    b"vkCmdCopyMemoryToAccelerationStructureKHR" => copy_from_memory, PFN_vkCmdCopyMemoryToAccelerationStructureKHR;
    b"vkCmdBuildMicromapsEXT" => build_micromaps, PFN_vkCmdBuildMicromapsEXT;
    b"vkCmdCopyMicromapEXT" => copy_micromap, PFN_vkCmdCopyMicromapEXT;
    b"vkCmdCopyMicromapToMemoryEXT" => micromap_to_memory, PFN_vkCmdCopyMicromapToMemoryEXT;
    b"vkCmdCopyMemoryToMicromapEXT" => micromap_from_memory, PFN_vkCmdCopyMemoryToMicromapEXT;
}

type Region = *const vk::StridedDeviceAddressRegionKHR;

workloads! {
    Trace trace_rays cmd_trace_rays (
        first: Region, miss: Region, hit: Region, callable: Region, x: u32, y: u32, z: u32
    ) |d, r| d.names.with(r.rays, format!("vkCmdTraceRaysKHR {x}x{y}x{z}")),
        empty: x == 0 || y == 0 || z == 0;
    Trace trace_rays_indirect cmd_trace_rays_indirect (
        first: Region, miss: Region, hit: Region, callable: Region, at: vk::DeviceAddress
    ) |d, r| d.names.with(r.rays, "vkCmdTraceRaysIndirectKHR".into());
    Trace trace_rays_indirect2 cmd_trace_rays_indirect2 (at: vk::DeviceAddress)
        |d, r| d.names.with(r.rays, "vkCmdTraceRaysIndirect2KHR".into());
    Build build cmd_build_structures (
        n: u32, p: *const vk::AccelerationStructureBuildGeometryInfoKHR<'_>,
        ranges: *const *const vk::AccelerationStructureBuildRangeInfoKHR
    ) |d, r| format!("vkCmdBuildAccelerationStructuresKHR {n}");
    Build build_indirect cmd_build_structures_indirect (
        n: u32, p: *const vk::AccelerationStructureBuildGeometryInfoKHR<'_>, at: *const vk::DeviceAddress,
        strides: *const u32, most: *const *const u32
    ) |d, r| format!("vkCmdBuildAccelerationStructuresIndirectKHR {n}");
    Copy copy cmd_copy_structure (i: *const vk::CopyAccelerationStructureInfoKHR<'_>)
        |d, r| format!("vkCmdCopyAccelerationStructureKHR{}", d.names.between((*i).src, (*i).dst));
    Copy copy_to_memory cmd_copy_structure_to_memory (i: *const vk::CopyAccelerationStructureToMemoryInfoKHR<'_>)
        |d, r| d.names.with((*i).src, "vkCmdCopyAccelerationStructureToMemoryKHR".into());
    Copy copy_from_memory cmd_copy_memory_to_structure (i: *const vk::CopyMemoryToAccelerationStructureInfoKHR<'_>)
        |d, r| d.names.with((*i).dst, "vkCmdCopyMemoryToAccelerationStructureKHR".into());
    Build build_micromaps cmd_build_micromaps (n: u32, p: *const vk::MicromapBuildInfoEXT<'_>)
        |d, r| format!("vkCmdBuildMicromapsEXT {n}");
    Copy copy_micromap cmd_copy_micromap (i: *const vk::CopyMicromapInfoEXT<'_>)
        |d, r| format!("vkCmdCopyMicromapEXT{}", d.names.between((*i).src, (*i).dst));
    Copy micromap_to_memory cmd_copy_micromap_to_memory (i: *const vk::CopyMicromapToMemoryInfoEXT<'_>)
        |d, r| d.names.with((*i).src, "vkCmdCopyMicromapToMemoryEXT".into());
    Copy micromap_from_memory cmd_copy_memory_to_micromap (i: *const vk::CopyMemoryToMicromapInfoEXT<'_>)
        |d, r| d.names.with((*i).dst, "vkCmdCopyMemoryToMicromapEXT".into());
}
