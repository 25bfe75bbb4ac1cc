//! VK_KHR_cooperative_matrix: the products that shaders may ask for.

use crate::base::given::List;
use crate::instance::physical_device::PhysicalDevice;

type Ty = vk::ComponentTypeKHR;

/// VK_KHR_shader_bfloat16's and VK_EXT_shader_float8's.
const BFLOAT16: Ty = Ty::from_raw(1_000_141_000);
const FLOAT8_E4M3: Ty = Ty::from_raw(1_000_491_002);
const FLOAT8_E5M2: Ty = Ty::from_raw(1_000_491_003);

/// Types of the left and the right matrix, and of the third and the result. All are 16 × 16 (`shader::isa::code::ROWS`).
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

pub(crate) fn get_physical_device_cooperative_matrix_properties_khr(
    _physical_device: &PhysicalDevice,
    p_properties: List<vk::CooperativeMatrixPropertiesKHR>,
) -> vk::Result {
    let integers = |ty: Ty| ty == Ty::SINT32 || ty == Ty::UINT32;
    // Sums of integers wrap or are held to their range, as a shader asks.
    let all: Vec<_> = PRODUCTS
        .iter()
        .flat_map(|p| {
            [false, true].into_iter().filter(move |held| !held || integers(p.1)).map(move |held| (p, held))
        })
        .collect();
    let side = shader::isa::code::ROWS as u32;
    p_properties.fill_with(all.len(), |mut out, i| {
        let ([a, b], c) = *all[i].0;
        (out.m_size, out.n_size, out.k_size) = (side, side, side);
        (out.a_type, out.b_type, out.c_type, out.result_type) = (a, b, c, c);
        out.saturating_accumulation = all[i].1.into();
        out.scope = vk::ScopeKHR::SUBGROUP;
    })
}
