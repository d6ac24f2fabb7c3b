// Sums of s log2 s, s = p + q, over positions, for every pair of heads: the whole cost of all divergences.
//
// Vectors of 16 floats are split by the compiler into whatever the processor has. log2 by the bits: s = m 2^e with m
// in [1/sqrt 2, sqrt 2), log2 s = e + t P(t), t = m - 1, P of degree 7 fitted at Chebyshev nodes: off by at most 9e-8.

#include <algorithm>
#include <cstdint>

typedef float Floats __attribute__((vector_size(64), aligned(4)));
typedef int32_t Ints __attribute__((vector_size(64)));

constexpr long LANES = 16;
constexpr long CHUNK = 1024;  // positions summed in float32 before the sum goes on in float64; heads x CHUNK stay cached
constexpr long TILE = 4;      // heads q against one head p: p is read once, and four chains hide each other's latency
constexpr int32_t SQRT_HALF = 0x3f3504f3;

static inline Floats log2_of(Floats s) {
  Ints bits = (Ints)s;
  Ints exponent = (bits - SQRT_HALF) >> 23;
  Floats t = (Floats)(bits - (exponent << 23)) - 1.0f;
  Floats p = -0.14620353f * t + 0.23420985f;
  p = p * t - 0.24882181f;
  p = p * t + 0.2870756f;
  p = p * t - 0.36024198f;
  p = p * t + 0.48092404f;
  p = p * t - 0.72135276f;
  p = p * t + 1.4426949f;
  return p * t + __builtin_convertvector(exponent, Floats);
}

static inline Floats load(const float* from) { return *(const Floats*)from; }

static void tile(const float* p, const float* const q[TILE], long length, double total[TILE]) {
  Floats sums[TILE] = {};
  for (long i = 0; i < length; i += LANES) {
    Floats at = load(p + i);
#pragma GCC unroll 4
    for (long k = 0; k < TILE; k++) {
      Floats s = at + load(q[k] + i);
      sums[k] += s * log2_of(s);
    }
  }
  for (long k = 0; k < TILE; k++) {
    total[k] = 0;
    for (long lane = 0; lane < LANES; lane++) total[k] += sums[k][lane];
  }
}

// maps: (head, position), rows `stride` apart, all values positive and normal, length a multiple of LANES.
// sums: (head, head) of doubles; the upper triangle, the diagonal included, is added to.
extern "C" void mixture_sums(const float* maps, long heads, long length, long stride, double* sums) {
  for (long start = 0; start < length; start += CHUNK) {
    long size = std::min(CHUNK, length - start);
    for (long a = 0; a < heads; a++) {
      for (long b = a; b < heads; b += TILE) {
        const float* others[TILE];
        double total[TILE];
        for (long k = 0; k < TILE; k++) others[k] = maps + std::min(b + k, heads - 1) * stride + start;
        tile(maps + a * stride + start, others, size, total);
        for (long k = 0; k < TILE && b + k < heads; k++) sums[a * heads + b + k] += total[k];
      }
    }
  }
}
