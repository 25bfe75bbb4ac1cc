//! VK_KHR_cooperative_matrix, VK_NV_cooperative_matrix2 and VK_NV_cooperative_vector: the products that shaders may ask for.

use crate::base::given::List;
use crate::instance::physical_device::PhysicalDevice;

type Ty = vk::ComponentTypeKHR;

/// VK_KHR_shader_bfloat16's and VK_EXT_shader_float8's.
const BFLOAT16: Ty = Ty::from_raw(1_000_141_000);
const FLOAT8_E4M3: Ty = Ty::from_raw(1_000_491_002);
const FLOAT8_E5M2: Ty = Ty::from_raw(1_000_491_003);

/// Types of the left and the right matrix, and of the third and the result.
#[rustfmt::skip]
const PRODUCTS: &[([Ty; 2], Ty)] = &[
    ([Ty::FLOAT16; 2], Ty::FLOAT16),
    ([Ty::FLOAT16; 2], Ty::FLOAT32),
    ([BFLOAT16; 2], Ty::FLOAT32),
    ([BFLOAT16; 2], BFLOAT16),
    ([Ty::FLOAT32; 2], Ty::FLOAT32),
    ([Ty::SINT8; 2], Ty::SINT32),
    ([Ty::UINT8; 2], Ty::UINT32),
    ([Ty::SINT8, Ty::UINT8], Ty::SINT32),
    ([Ty::UINT8, Ty::SINT8], Ty::SINT32),
    ([Ty::UINT8; 2], Ty::SINT32),
    ([FLOAT8_E4M3; 2], Ty::FLOAT32),
    ([FLOAT8_E5M2; 2], Ty::FLOAT32),
    ([FLOAT8_E4M3; 2], Ty::FLOAT16),
    ([FLOAT8_E5M2; 2], Ty::FLOAT16),
];

/// The kinds of products, and whether sums are held to their range: those of integers wrap or are, as a shader asks.
fn products() -> Vec<([Ty; 2], Ty, bool)> {
    let integers = |ty: Ty| ty == Ty::SINT32 || ty == Ty::UINT32;
    let held = [false, true];
    PRODUCTS
        .iter()
        .flat_map(|p| held.into_iter().filter(|h| !h || integers(p.1)).map(|h| (p.0, p.1, h)))
        .collect()
}

/// Who may share a matrix of flexible dimensions, and the invocations of the workgroup, where it is one.
const SCOPES: &[(vk::ScopeKHR, u32)] =
    &[(vk::ScopeKHR::SUBGROUP, 0), (vk::ScopeKHR::WORKGROUP, 128), (vk::ScopeKHR::WORKGROUP, 256)];

/// Rows and columns of matrices that lie in registers as the kernel of products wants them.
const SIDE: u32 = shader::isa::code::ROWS as u32;
/// Those of matrices that are multiplied by ordinary arithmetic, which comes last: programs take the first shape that they can use.
const SMALL: u32 = 8;

pub(crate) fn get_physical_device_cooperative_matrix_properties_khr(
    _physical_device: &PhysicalDevice,
    p_properties: List<vk::CooperativeMatrixPropertiesKHR>,
) -> vk::Result {
    let products = products();
    let all: Vec<_> =
        [SIDE, SMALL].into_iter().flat_map(|side| products.iter().map(move |p| (side, *p))).collect();
    p_properties.fill_with(all.len(), |mut out, i| {
        let (side, ([a, b], c, held)) = all[i];
        (out.m_size, out.n_size, out.k_size) = (side, side, side);
        (out.a_type, out.b_type, out.c_type, out.result_type) = (a, b, c, c);
        out.saturating_accumulation = held.into();
        out.scope = vk::ScopeKHR::SUBGROUP;
    })
}

pub(crate) fn get_physical_device_cooperative_matrix_flexible_dimensions_properties_nv(
    _physical_device: &PhysicalDevice,
    p_properties: List<vk::CooperativeMatrixFlexibleDimensionsPropertiesNV>,
) -> vk::Result {
    let products = products();
    let scopes = SCOPES.iter();
    let all: Vec<_> = scopes.flat_map(|s| products.iter().map(move |p| (*p, *s))).collect();
    p_properties.fill_with(all.len(), |mut out, i| {
        let (([a, b], c, held), (scope, invocations)) = all[i];
        (out.m_granularity, out.n_granularity, out.k_granularity) = (SIDE, SIDE, SIDE);
        (out.a_type, out.b_type, out.c_type, out.result_type) = (a, b, c, c);
        out.saturating_accumulation = held.into();
        (out.scope, out.workgroup_invocations) = (scope, invocations);
    })
}

pub(crate) fn get_physical_device_cooperative_vector_properties_nv(
    _physical_device: &PhysicalDevice,
    p_properties: List<vk::CooperativeVectorPropertiesNV>,
) -> vk::Result {
    let all = shader::vectors::PRODUCTS;
    p_properties.fill_with(all.len(), |mut out, i| {
        let [input, interpretation, matrix, bias, result] = all[i].map(|n| Ty::from_raw(n as i32));
        (out.input_type, out.input_interpretation) = (input, interpretation);
        (out.matrix_interpretation, out.bias_interpretation) = (matrix, bias);
        (out.result_type, out.transpose) = (result, true.into());
    })
}
