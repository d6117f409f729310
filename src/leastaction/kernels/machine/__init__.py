"""Everything that exists because of the computer: compiling, SIMD, memory. The mathematics is beside it."""
