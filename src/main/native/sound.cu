// SPDX-License-Identifier: Apache-2.0
/*
 * Sound of one channel to the log-mel spectrogram of Whisper. Twin: io.penstock.media.sound.LogMel. Masks of
 * spectrograms. Twin: io.penstock.media.sound.SpecAugment.
 *
 * Every sum is in the order of the twin, so that results are the same to the last bit. A clip with a power that is not
 * finite is all NaN.
 *
 *   penstock_log_mel         the logarithms, and the greatest of each frame
 *   penstock_log_mel_scale   not below the clip's greatest less 8; (x + 4) / 4
 *   penstock_mask_means      the mean of each spectrogram
 *   penstock_masks           masks of rows and columns
 */
#include "kernel.cuh"

constexpr int MEL_SIZE = 400;
constexpr int MEL_HALF = MEL_SIZE / 2;
constexpr int MEL_HOP = 160;
constexpr int MEL_MOST_BANDS = 128;
constexpr int MEL_FRAMES = 8;                               /* that a block takes: so many values are written in a row */
constexpr int MEL_LANES = BLOCK_THREADS / MEL_FRAMES;       /* threads of a frame */
constexpr float MEL_LEAST = 1e-10f;

struct LogMel {
    int64_t source, batch, samples;                         /* f32 [batch, samples] */
    int64_t target, bands, frames;                          /* f32 [batch, bands, frames] */
    int64_t most;                                           /* f32 [batch, frames] */
    int64_t tables;
};

/* Behind it: i32 begins[bands + 1], i32 firsts[bands], f32 weights[begins[bands]]. */
struct MelTables {
    float window[MEL_SIZE];
    int32_t places[MEL_HALF];                               /* of pairs of samples: digits reversed */
    float twiddles2[2], twiddles5[2 * 4 * 2], twiddles10[10 * 4 * 2], twiddles50[50 * 3 * 2];
    float cosines[MEL_HALF + 1], sines[MEL_HALF + 1];
    float octave, octave_rest, terms[5];                    /* of the logarithm */
};

struct Spectra {
    float re[MEL_FRAMES][MEL_HALF];                         /* later the logarithms of the bands */
    float im[MEL_FRAMES][MEL_HALF];
    float power[MEL_FRAMES][MEL_HALF + 1];
    float most[MEL_FRAMES][MEL_LANES];
};

/* Butterfly i of a pass, as LaneFft has it. */
template <int RADIX, int STEP> FUNCTION void butterfly(float *re, float *im, const float *twiddles, int i) {
    const int k = i % STEP;
    const int at = i / STEP * RADIX * STEP + k;
    float r[RADIX], j[RADIX];
    for (int leg = 0; leg < RADIX; leg++) {
        r[leg] = re[at + leg * STEP];
        j[leg] = im[at + leg * STEP];
        if (leg > 0 && k > 0) {
            const float c = twiddles[(k * (RADIX - 1) + leg - 1) * 2];
            const float s = twiddles[(k * (RADIX - 1) + leg - 1) * 2 + 1];
            const float turned = r[leg] * c + j[leg] * s;
            j[leg] = j[leg] * c - r[leg] * s;
            r[leg] = turned;
        }
    }
    float *to_re = re + at;
    float *to_im = im + at;
    if constexpr (RADIX == 2) {
        to_re[STEP] = r[0] - r[1];
        to_im[STEP] = j[0] - j[1];
        to_re[0] = r[0] + r[1];
        to_im[0] = j[0] + j[1];
    } else if constexpr (RADIX == 4) {
        const float even_sum_r = r[0] + r[2], even_sum_i = j[0] + j[2];
        const float even_difference_r = r[0] - r[2], even_difference_i = j[0] - j[2];
        const float odd_sum_r = r[1] + r[3], odd_sum_i = j[1] + j[3];
        const float odd_difference_r = r[1] - r[3], odd_difference_i = j[1] - j[3];
        to_re[0] = even_sum_r + odd_sum_r;
        to_im[0] = even_sum_i + odd_sum_i;
        to_re[STEP] = even_difference_r + odd_difference_i;
        to_im[STEP] = even_difference_i - odd_difference_r;
        to_re[2 * STEP] = even_sum_r - odd_sum_r;
        to_im[2 * STEP] = even_sum_i - odd_sum_i;
        to_re[3 * STEP] = even_difference_r - odd_difference_i;
        to_im[3 * STEP] = even_difference_i + odd_difference_r;
    } else {
        constexpr float quarter_of_root_5 = 0.559017f, sin72 = 0.95105654f, sin144 = 0.58778524f;
        const float outer_sum_r = r[1] + r[4], outer_sum_i = j[1] + j[4];
        const float outer_difference_r = r[1] - r[4], outer_difference_i = j[1] - j[4];
        const float inner_sum_r = r[2] + r[3], inner_sum_i = j[2] + j[3];
        const float inner_difference_r = r[2] - r[3], inner_difference_i = j[2] - j[3];
        const float sum_r = outer_sum_r + inner_sum_r, sum_i = outer_sum_i + inner_sum_i;
        const float middle_r = r[0] - 0.25f * sum_r, middle_i = j[0] - 0.25f * sum_i;
        const float apart_r = quarter_of_root_5 * (outer_sum_r - inner_sum_r);
        const float apart_i = quarter_of_root_5 * (outer_sum_i - inner_sum_i);
        const float one_r = middle_r + apart_r, one_i = middle_i + apart_i;
        const float two_r = middle_r - apart_r, two_i = middle_i - apart_i;
        const float turned_one_r = sin72 * outer_difference_i + sin144 * inner_difference_i;
        const float turned_one_i = sin72 * outer_difference_r + sin144 * inner_difference_r;
        const float turned_two_r = sin144 * outer_difference_i - sin72 * inner_difference_i;
        const float turned_two_i = sin144 * outer_difference_r - sin72 * inner_difference_r;
        to_re[0] = r[0] + sum_r;
        to_im[0] = j[0] + sum_i;
        to_re[STEP] = one_r + turned_one_r;
        to_im[STEP] = one_i - turned_one_i;
        to_re[2 * STEP] = two_r + turned_two_r;
        to_im[2 * STEP] = two_i - turned_two_i;
        to_re[3 * STEP] = two_r - turned_two_r;
        to_im[3 * STEP] = two_i + turned_two_i;
        to_re[4 * STEP] = one_r - turned_one_r;
        to_im[4 * STEP] = one_i + turned_one_i;
    }
}

/* A thread's part of a pass over the frames of its block. */
template <int RADIX, int STEP> FUNCTION void pass(Spectra &s, const float *twiddles, int t) {
    const int frame = t / MEL_LANES;
    ROLLED for (int i = t % MEL_LANES; i < MEL_HALF / RADIX; i += MEL_LANES) {
        butterfly<RADIX, STEP>(s.re[frame], s.im[frame], twiddles, i);
    }
}

/* The powers of frequency k and of that as far from the highest. */
FUNCTION void powers(const float *re, const float *im, const MelTables &tables, int k, float *power) {
    if (k == 0) {
        const float sum = re[0] + im[0];
        const float difference = re[0] - im[0];
        power[0] = sum * sum;
        power[MEL_HALF] = difference * difference;
        return;
    }
    const int other = MEL_HALF - k;
    const float even_r = 0.5f * (re[k] + re[other]), even_i = 0.5f * (im[k] - im[other]);
    const float odd_r = 0.5f * (im[k] + im[other]), odd_i = 0.5f * (re[other] - re[k]);
    const float c = tables.cosines[k], s = tables.sines[k];
    const float turned_r = odd_r * c + odd_i * s, turned_i = odd_i * c - odd_r * s;
    const float near_r = even_r + turned_r, near_i = even_i + turned_i;
    const float far_r = even_r - turned_r, far_i = even_i - turned_i;
    power[k] = near_r * near_r + near_i * near_i;
    power[other] = far_r * far_r + far_i * far_i;
}

/* The weighted sum of powers, in the groups of LaneSums. */
FUNCTION float weighed(const float *p, const float *w, int count) {
    float sum = 0;
    int i = 0;
    ROLLED for (; i + 8 <= count; i += 8) {
        sum += ((w[i] * p[i] + w[i + 1] * p[i + 1]) + (w[i + 2] * p[i + 2] + w[i + 3] * p[i + 3]))
                + ((w[i + 4] * p[i + 4] + w[i + 5] * p[i + 5]) + (w[i + 6] * p[i + 6] + w[i + 7] * p[i + 7]));
    }
    if (i + 4 <= count) {
        sum += (w[i] * p[i] + w[i + 1] * p[i + 1]) + (w[i + 2] * p[i + 2] + w[i + 3] * p[i + 3]);
        i += 4;
    }
    ROLLED for (; i < count; i++) {
        sum += w[i] * p[i];
    }
    return sum;
}

/* The logarithm of a positive number; infinity of what is not finite. */
FUNCTION float logarithm(float x, const MelTables &tables) {
    const uint32_t bits = bits_of(x);
    if ((bits & 0x7FFFFFFFu) >= 0x7F800000u) {
        return float_of(0x7F800000u);
    }
    const int mantissa = (int) (bits & 0x7FFFFFu);
    const int above = (int) ((uint32_t) (0x3504F3 - mantissa) >> 31);       /* 1 if the mantissa is above that of √2 */
    const float exponent = (float) ((int) (bits >> 23) - 127 + above);
    const float f = (float) ((mantissa - (above << 23)) * (2 - above)) * 0x1p-24f;
    const float s = f / (2 + f);
    const float q = s * s;
    const float *t = tables.terms;
    return exponent * tables.octave
            + (exponent * tables.octave_rest + s * (t[0] + q * (t[1] + q * (t[2] + q * (t[3] + q * t[4])))));
}

KERNEL(penstock_log_mel, LogMel) {
    SHARED Spectra s;
    const MelTables &tables = *at<const MelTables>(a.tables);
    const int32_t *begins = at<const int32_t>(a.tables + (int64_t) sizeof(MelTables));
    const int32_t *firsts = begins + a.bands + 1;
    const float *weights = (const float *) (firsts + a.bands);
    const int64_t groups = (a.frames + MEL_FRAMES - 1) / MEL_FRAMES;
    FOR_BLOCKS(b, a.batch * groups) {
        const int64_t clip = b / groups;
        const int64_t first = (b - clip * groups) * MEL_FRAMES;
        const float *samples = at<const float>(a.source) + clip * a.samples;
        PHASE(t) {
            const int frame = t / MEL_LANES;
            const int64_t from = (first + frame) * MEL_HOP - MEL_HALF;
            ROLLED for (int n = t % MEL_LANES; n < MEL_SIZE; n += MEL_LANES) {
                int64_t i = from + n;
                i = i < 0 ? -i : i < a.samples ? i : 2 * (a.samples - 1) - i;           /* mirrored at the ends */
                const float value = first + frame < a.frames ? samples[i] * tables.window[n] : 0;
                float *to = n % 2 == 0 ? s.re[frame] : s.im[frame];
                to[tables.places[n / 2]] = value;
            }
        }
        PHASE(t) {
            pass<2, 1>(s, tables.twiddles2, t);
        }
        PHASE(t) {
            pass<5, 2>(s, tables.twiddles5, t);
        }
        PHASE(t) {
            pass<5, 10>(s, tables.twiddles10, t);
        }
        PHASE(t) {
            pass<4, 50>(s, tables.twiddles50, t);
        }
        PHASE(t) {
            const int frame = t / MEL_LANES;
            ROLLED for (int k = t % MEL_LANES; k <= MEL_HALF / 2; k += MEL_LANES) {
                powers(s.re[frame], s.im[frame], tables, k, s.power[frame]);
            }
        }
        PHASE(t) {
            const int frame = t / MEL_LANES;
            float most = float_of(0xFF800000u);
            ROLLED for (int m = t % MEL_LANES; m < a.bands; m += MEL_LANES) {
                const float sum = weighed(s.power[frame] + firsts[m], weights + begins[m], begins[m + 1] - begins[m]);
                const float x = logarithm(sum < MEL_LEAST ? MEL_LEAST : sum, tables);
                s.re[frame][m] = x;
                most = x > most ? x : most;
            }
            s.most[frame][t % MEL_LANES] = most;
        }
        PHASE(t) {
            ROLLED for (int i = t; i < a.bands * MEL_FRAMES; i += BLOCK_THREADS) {
                const int64_t frame = first + i % MEL_FRAMES;
                if (frame < a.frames) {
                    at<float>(a.target)[(clip * a.bands + i / MEL_FRAMES) * a.frames + frame] =
                            s.re[i % MEL_FRAMES][i / MEL_FRAMES];
                }
            }
            if (t < MEL_FRAMES && first + t < a.frames) {
                float most = s.most[t][0];
                ROLLED for (int lane = 1; lane < MEL_LANES; lane++) {
                    most = s.most[t][lane] > most ? s.most[t][lane] : most;
                }
                at<float>(a.most)[clip * a.frames + first + t] = most;
            }
        }
    }
}

KERNEL(penstock_log_mel_scale, LogMel) {
    SHARED float most[BLOCK_THREADS];
    FOR_BLOCKS(row, a.batch * a.bands) {
        PHASE(t) {
            const float *of_frames = at<const float>(a.most) + row / a.bands * a.frames;
            most[t] = float_of(0xFF800000u);
            ROLLED for (int64_t frame = t; frame < a.frames; frame += BLOCK_THREADS) {
                most[t] = of_frames[frame] > most[t] ? of_frames[frame] : most[t];
            }
        }
        PHASE(t) {
            if (t == 0) {
                ROLLED for (int i = 1; i < BLOCK_THREADS; i++) {
                    most[0] = most[i] > most[0] ? most[i] : most[0];
                }
            }
        }
        PHASE(t) {
            const bool finite = most[0] < float_of(0x7F800000u);
            const float least = most[0] - 8;
            ROLLED for (int64_t frame = t; frame < a.frames; frame += BLOCK_THREADS) {
                float *x = at<float>(a.target) + row * a.frames + frame;
                *x = finite ? ((*x < least ? least : *x) + 4) * 0.25f : float_of(0x7FC00000u);
            }
        }
    }
}

constexpr int MASK_MOST = 64;                               /* masks of a kind */

struct Masks {
    int64_t source, batch, rows, columns, target;           /* f32 [batch, rows, columns] */
    int64_t draws;                                          /* f64 [batch, row_masks + column_masks, 2], from 0 to 1 */
    int64_t row_masks, row_widest, column_masks, column_widest;
    int64_t columns_first;                                  /* 1 if those of columns are drawn before those of rows */
    int64_t means;                                          /* f32 [batch]; 0 if masks are filled with 0 */
};

/* Where a mask begins and ends. */
FUNCTION void place(const double *drawn, int64_t widest, int64_t size, int64_t *begin, int64_t *end) {
    const double width = drawn[0] * (double) widest;
    *begin = (int64_t) (drawn[1] * ((double) size - width));
    *end = *begin + (int64_t) width;
}

KERNEL(penstock_mask_means, Masks) {
    SHARED float some[BLOCK_THREADS];
    SHARED double sum;
    const int64_t values = a.rows * a.columns;
    FOR_BLOCKS(clip, a.batch) {
        const float *source = at<const float>(a.source) + clip * values;
        PHASE(t) {
            if (t == 0) {
                sum = 0;
            }
        }
        ROLLED for (int64_t first = 0; first < values; first += BLOCK_THREADS) {
            PHASE(t) {
                some[t] = first + t < values ? source[first + t] : 0;
            }
            PHASE(t) {
                if (t == 0) {
                    double added = sum;
                    ROLLED for (int i = 0; i < BLOCK_THREADS && first + i < values; i++) {
                        added += some[i];
                    }
                    sum = added;
                }
            }
        }
        PHASE(t) {
            if (t == 0) {
                at<float>(a.means)[clip] = (float) (sum / (double) values);
            }
        }
    }
}

KERNEL(penstock_masks, Masks) {
    SHARED int64_t begins[2 * MASK_MOST], ends[2 * MASK_MOST];      /* of rows, then of columns */
    const int64_t masks = a.row_masks + a.column_masks;
    FOR_BLOCKS(b, a.batch * a.rows) {
        const int64_t clip = b / a.rows;
        const int64_t row = b - clip * a.rows;
        PHASE(t) {
            if (t < masks) {
                const bool of_row = t < a.row_masks;
                const int64_t drawn = a.columns_first == 0 ? t : of_row ? a.column_masks + t : t - a.row_masks;
                place(at<const double>(a.draws) + (clip * masks + drawn) * 2, of_row ? a.row_widest : a.column_widest,
                        of_row ? a.rows : a.columns, begins + t, ends + t);
            }
        }
        PHASE(t) {
            const float fill = a.means == 0 ? 0 : at<const float>(a.means)[clip];
            bool row_is_masked = false;
            ROLLED for (int64_t m = 0; m < a.row_masks; m++) {
                row_is_masked |= row >= begins[m] && row < ends[m];
            }
            ROLLED for (int64_t column = t; column < a.columns; column += BLOCK_THREADS) {
                bool is_masked = row_is_masked;
                ROLLED for (int64_t m = a.row_masks; m < masks; m++) {
                    is_masked |= column >= begins[m] && column < ends[m];
                }
                const int64_t i = b * a.columns + column;
                at<float>(a.target)[i] = is_masked ? fill : at<const float>(a.source)[i];
            }
        }
    }
}
