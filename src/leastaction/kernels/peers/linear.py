"""Dense linear algebra on views of row-major matrices; in kernels, NumPy's would need SciPy."""

from ..machine.float4 import total
from ..machine.jit import kernel
from ..machine.simd import SIMD, in_fours


@kernel
def add_row(target, at, source, begin, count, k):
    """target[at:] += k source[begin:], of so many numbers."""
    done = 0
    if SIMD:
        into, four = in_fours(target), in_fours(source)
        while done + 4 <= count:
            into[at + done] = into[at + done] + k * four[begin + done]
            done += 4
    while done < count:
        target[at + done] += k * source[begin + done]
        done += 1


@kernel
def dot_row(A, begin, x, count):
    """Σ A[begin + j] x[j]."""
    result, done = 0.0, 0
    if SIMD and count >= 4:
        four, other = in_fours(A), in_fours(x)
        sums = four[begin] * other[0]
        done = 4
        while done + 4 <= count:
            sums = sums + four[begin + done] * other[done]
            done += 4
        result = total(sums)
    while done < count:
        result += A[begin + done] * x[done]
        done += 1
    return result


@kernel
def product(A, n, x, out):
    """out = A x."""
    for j in range(n):
        out[j] = dot_row(A, j * n, x, n)


@kernel
def transposed_product(A, n, x, out):
    """out = Aᵀ x."""
    for j in range(n):
        out[j] = 0.0
    for j in range(n):
        add_row(out, 0, A, j * n, n, x[j])


@kernel
def lu_solve(A, n, x):
    """x ← A⁻¹ x by elimination with row pivots; A is overwritten. Returns whether A is regular."""
    for c in range(n):
        pivot = c
        for r in range(c + 1, n):
            if abs(A[r * n + c]) > abs(A[pivot * n + c]):
                pivot = r
        if pivot != c:
            x[c], x[pivot] = x[pivot], x[c]
            for j in range(c, n):
                A[c * n + j], A[pivot * n + j] = A[pivot * n + j], A[c * n + j]
        if not abs(A[c * n + c]) > 0.0:
            return False
        inverse = 1.0 / A[c * n + c]
        for r in range(c + 1, n):
            k = A[r * n + c] * inverse
            if k != 0.0:
                add_row(A, r * n + c + 1, A, c * n + c + 1, n - c - 1, -k)
                x[r] -= k * x[c]
    for c in range(n - 1, -1, -1):
        for j in range(c + 1, n):
            x[c] -= A[c * n + j] * x[j]
        x[c] /= A[c * n + c]
    return True
