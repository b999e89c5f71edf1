// SPDX-License-Identifier: Apache-2.0
/*
 * Augmentation of u8 images [height, width, channels], up to 4 channels. Twin: io.penstock.augment.step.PassTwin.
 *
 * A pass over a batch applies up to MAX_OPERATIONS operations, one after the other, with u8 between them. At most one of
 * them makes a pixel of several (gather): before it pixels only move, behind it they move or change color. So a thread
 * makes a pixel of the target alone: it walks back from there to where the pixel comes from, reads, and applies the
 * colors in registers. An operation's parameters are in the image's row of the table, as docs/spec/augment.md lays it
 * out; one that is out of range is moved into it, so that no kernel leaves the image.
 *
 *   penstock_augment_prepare    for each image: numbers in f32 that operations need, the weights of a resize or a blur
 *   penstock_augment_measure    for each image: the tables of the first operation, if it has some
 *   penstock_augment_columns    for each value: the sum of a blur's first direction, if that is the first operation
 *   penstock_augment            the pass
 */
#include "floats.cuh"
#include "weights.cuh"

constexpr int MAX_OPERATIONS = 8;
constexpr int NUMBERS = 8;                                  /* of an operation */
constexpr int TABLE_VALUES = 256;
constexpr int TABLES = 3;                                   /* of an image: one a channel */

/* In the order of the Java enum PixelOp.Kind. */
enum {
    CROP, PAD, FLIP_HORIZONTALLY, FLIP_VERTICALLY, ERASE, RESIZE, BLUR, MIX, NOISE, WARP, SHARPNESS, POLICY, JITTER,
    JITTER_REST, TONE, GRAYSCALE, POSTERIZE, SOLARIZE, AUTOCONTRAST, EQUALIZE
};

struct Op {
    uint8_t kind, record, setting, fill;                    /* record: where the parameters start in the row */
    float amount;
    int32_t height, width;                                  /* of what the operation is applied to */
};

struct Pass {
    int64_t source, target, batch, channels;
    int64_t height, width;                                  /* of the target; the first operation has the source's */
    int64_t table, row_bytes;
    int64_t numbers;                                        /* f32 [batch, MAX_OPERATIONS, NUMBERS] */
    int64_t weights;                                        /* an image's i32 [rows, 2 + taps], then its columns';
                                                               of a blur f32 [size] */
    int64_t taps_down, taps_across;
    int64_t tables;                                         /* u8 [batch, TABLES, TABLE_VALUES] */
    int64_t count, gather;                                  /* of the operations; which one gathers, or -1 */
    int64_t more;                                           /* what the gathering one reads besides: BLUR f32 sums of
                                                               columns, MIX u8 [chains, batch, image], NOISE f32 */
    Op ops[MAX_OPERATIONS];
};

/* ---- parameters */

FUNCTION const uint8_t *row_of(const Pass &a, int64_t image) {
    return at<const uint8_t>(a.table) + image * a.row_bytes;
}

FUNCTION int whole(const uint8_t *parameters, int i) { return ((const int32_t *) parameters)[i]; }

FUNCTION float single(const uint8_t *parameters, int i) { return ((const float *) parameters)[i]; }

/* Moved into a range; a NaN to its lower end. */
FUNCTION double within(double x, double low, double high) { return x >= low ? x < high ? x : high : low; }

/* An i-th f64, the first of which starts at the next multiple of 8. */
FUNCTION double real(const uint8_t *row, int offset, int i) {
    return ((const double *) (row + ((offset + 7) & ~7)))[i];
}

struct Rectangle { int top, left, height, width; };

/* A rectangle of at least so many pixels a side, within the image. */
FUNCTION Rectangle rectangle(const uint8_t *parameters, const Op &op, int least) {
    Rectangle r;
    r.height = limit(whole(parameters, 2), least, op.height);
    r.width = limit(whole(parameters, 3), least, op.width);
    r.top = limit(whole(parameters, 0), 0, op.height - r.height);
    r.left = limit(whole(parameters, 1), 0, op.width - r.width);
    return r;
}

FUNCTION int height_after(const Pass &a, int k) { return k + 1 < a.count ? a.ops[k + 1].height : (int) a.height; }
FUNCTION int width_after(const Pass &a, int k) { return k + 1 < a.count ? a.ops[k + 1].width : (int) a.width; }

/* ---- what is prepared for an image */

template <int LAST> FUNCTION double series(double z) {
    double sum = 1;
    for (int k = LAST; k > 1; k -= 2) {
        sum = 1 - z * (1.0 / (k * (k - 1))) * sum;
    }
    return sum;
}

FUNCTION double sine(double degrees) {
    const double quarters = rint(degrees / 90);
    const double x = (degrees - 90 * quarters) * (3.141592653589793 / 180);
    switch (quarters >= 0x1p63 ? 3 : quarters > -0x1p63 ? (int) ((int64_t) quarters & 3) : 0) {
        case 0: return x * series<19>(x * x);
        case 1: return series<20>(x * x);
        case 2: return -(x * series<19>(x * x));
        default: return -series<20>(x * x);
    }
}

FUNCTION double cosine(double degrees) { return sine(degrees + 90); }

/* 0 below e^-700. */
FUNCTION double exponential(double x) {
    if (!(x > -700)) {
        return 0;
    }
    const double k = rint(x * 1.4426950408889634);
    const double r = x - k * 0x1.62e42feep-1 - k * 0x1.a39ef35793c76p-33;
    double sum = 1;
    for (int n = 13; n > 0; n--) {
        sum = 1 + r * (1.0 / n) * sum;
    }
    return ldexp(sum, (int) k);
}

/* Of a positive number. */
FUNCTION double logarithm(double x) {
    int k;
    double m = 2 * frexp(x, &k);
    k--;
    if (m > 1.4142135623730951) {
        m *= 0.5;
        k++;
    }
    const double s = (m - 1) / (m + 1);
    const double z = s * s;
    double sum = 0;
    for (int n = 23; n > 0; n -= 2) {
        sum = 1.0 / n + z * sum;
    }
    return 2 * s * sum + k * 0.6931471805599453;
}

FUNCTION void matrix(float *to, double xx, double xy, double x0, double yx, double yy, double y0) {
    to[0] = (float) xx;
    to[1] = (float) xy;
    to[2] = (float) x0;
    to[3] = (float) yx;
    to[4] = (float) yy;
    to[5] = (float) y0;
}

FUNCTION void affine(float *to, const Op &op, double angle, double right, double down, double scale, double shear_x,
        double shear_y) {
    const double tan_x = sine(shear_x) / cosine(shear_x);
    const double a = cosine(angle - shear_y) / cosine(shear_y);
    const double b = -(a * tan_x + sine(angle));
    const double c = sine(angle - shear_y) / cosine(shear_y);
    const double d = cosine(angle) - c * tan_x;
    const double xx = d / scale;
    const double xy = -b / scale;
    const double yx = -c / scale;
    const double yy = a / scale;
    matrix(to, xx, xy, -(xx * right + xy * down) + (op.width - 1) / 2.0,
            yx, yy, -(yx * right + yy * down) + (op.height - 1) / 2.0);
}

/* The map of output points to input points that moves the corners inwards; they may stay. */
FUNCTION void perspective(float *to, const Op &op, const uint8_t *moves) {
    const double right = op.width - 1;
    const double bottom = op.height - 1;
    const double x0 = whole(moves, 0);
    const double y0 = whole(moves, 1);
    const double x1 = right - whole(moves, 2);
    const double y1 = whole(moves, 3);
    const double x2 = right - whole(moves, 4);
    const double y2 = bottom - whole(moves, 5);
    const double x3 = whole(moves, 6);
    const double y3 = bottom - whole(moves, 7);
    bool moved = false;
    for (int i = 0; i < 8; i++) {
        moved |= whole(moves, i) != 0;
    }
    const double dx1 = x1 - x2;
    const double dx2 = x3 - x2;
    const double dy1 = y1 - y2;
    const double dy2 = y3 - y2;
    const double sum_x = x0 - x1 + x2 - x3;
    const double sum_y = y0 - y1 + y2 - y3;
    const double determinant = dx1 * dy2 - dx2 * dy1;
    const double g = (sum_x * dy2 - dx2 * sum_y) / determinant;
    const double h = (dx1 * sum_y - sum_x * dy1) / determinant;
    const double a = x1 - x0 + g * x1;
    const double b = x3 - x0 + h * x3;
    const double d = y1 - y0 + g * y1;
    const double e = y3 - y0 + h * y3;
    const double last = a * e - b * d;
    if (!moved || determinant == 0 || last == 0) {
        for (int i = 0; i < NUMBERS; i++) {
            to[i] = i == 0 || i == 4 ? 1 : 0;
        }
        return;
    }
    matrix(to, right * (e - y0 * h) / last, right * (x0 * h - b) / last, right * (b * y0 - x0 * e) / last,
            bottom * (y0 * g - d) / last, bottom * (a - x0 * g) / last, bottom * (x0 * d - a * y0) / last);
    to[6] = (float) ((d * h - e * g) / last);
    to[7] = (float) ((b * g - a * h) / last);
}

/* The operations of policies, in the order of the Java enum Policy.Operation; and a table of another kind. */
enum {
    POLICY_IDENTITY, POLICY_SHEAR_X, POLICY_SHEAR_Y, POLICY_TRANSLATE_X, POLICY_TRANSLATE_Y, POLICY_ROTATE,
    POLICY_BRIGHTNESS, POLICY_COLOR, POLICY_CONTRAST, POLICY_SHARPNESS, POLICY_POSTERIZE, POLICY_SOLARIZE,
    POLICY_AUTOCONTRAST, POLICY_EQUALIZE, POLICY_INVERT, TONE_CURVE
};

/* A policy's numbers: a matrix in the first six, or the magnitude (a factor as such) and the rest to 1. */
FUNCTION void policy(float *to, const Op &op, int operation, double size) {
    const double middle_row = (op.height - 1) / 2.0;
    const double middle_column = (op.width - 1) / 2.0;
    switch (operation) {
        case POLICY_SHEAR_X: matrix(to, 1, size, size * op.height / 2 + middle_column, 0, 1, middle_row); break;
        case POLICY_SHEAR_Y: matrix(to, 1, 0, middle_column, size, 1, size * op.width / 2 + middle_row); break;
        case POLICY_TRANSLATE_X: affine(to, op, 0, size, 0, 1, 0, 0); break;
        case POLICY_TRANSLATE_Y: affine(to, op, 0, 0, size, 1, 0, 0); break;
        case POLICY_ROTATE: affine(to, op, -size, 0, 0, 1, 0, 0); break;
        case POLICY_BRIGHTNESS: case POLICY_COLOR: case POLICY_CONTRAST: case POLICY_SHARPNESS:
            to[6] = (float) (1 + size);
            to[7] = (float) (1 - (1 + size));
            break;
        default: to[6] = (float) size; break;
    }
}

enum { JITTER_BRIGHTNESS, JITTER_CONTRAST, JITTER_SATURATION, JITTER_HUE };

/* The numbers of colors: the factors of brightness, contrast, saturation, the turn; then the rests to 1. */
FUNCTION void prepare(float *to, const Op &op, const uint8_t *row) {
    const uint8_t *parameters = row + op.record;
    switch (op.kind) {
        case WARP:
            if (op.setting & 4) {
                perspective(to, op, parameters);
            } else if (op.setting & 2) {
                affine(to, op, real(row, op.record, 0), real(row, op.record, 1), real(row, op.record, 2),
                        real(row, op.record, 3), real(row, op.record, 4), real(row, op.record, 5));
            } else {
                affine(to, op, -real(row, op.record, 0), 0, 0, 1, 0, 0);
            }
            break;
        case POLICY: policy(to, op, parameters[0], real(row, (int) op.amount, 0)); break;
        case JITTER: case JITTER_REST:
            for (int i = 0; i < 4; i++) {
                const double by = real(row, op.record + 4, i);
                to[i] = (float) (i == JITTER_HUE ? within(by, -1, 1) : by);
                to[4 + i] = (float) (1 - by);
            }
            break;
        default: break;
    }
}

/* The weights of a blur, whose size is the amount. */
FUNCTION float *smoothing(const Pass &a, int64_t image) {
    return at<float>(a.weights) + image * (int64_t) a.ops[0].amount;
}

FUNCTION double bell(int k, int size, double sigma) {
    const double distance = (k - size / 2) / sigma;
    return exponential(-0.5 * distance * distance);
}

FUNCTION void weigh_smoothing(float *to, const Op &op, const uint8_t *row) {
    const double sigma = within(real(row, op.record, 0), 0x1p-1022, 0x1p1022);
    const int size = (int) op.amount;
    double sum = 0;
    for (int k = 0; k < size; k++) {
        sum += bell(k, size, sigma);
    }
    for (int k = 0; k < size; k++) {
        to[k] = (float) (bell(k, size, sigma) / sum);
    }
}

/* What a resize reads: the whole image, or the rectangle of the parameters. */
FUNCTION Rectangle resized(const uint8_t *row, const Op &op) {
    const Rectangle all = {0, 0, op.height, op.width};
    return op.setting & 1 ? rectangle(row + op.record, op, 1) : all;
}

FUNCTION int32_t *weights_of(const Pass &a, int64_t image, int rows, int columns) {
    return at<int32_t>(a.weights) + image * (rows * (2 + a.taps_down) + columns * (2 + a.taps_across));
}

KERNEL(penstock_augment_prepare, Pass) {
    const bool resizes = a.ops[0].kind == RESIZE;
    const int rows = resizes ? height_after(a, 0) : 0;
    const int columns = resizes ? width_after(a, 0) : 0;
    const int64_t items = a.count + rows + columns;
    FOR_EACH(i, a.batch * items) {
        const int64_t image = i / items;
        const int j = (int) (i - image * items);
        const uint8_t *row = row_of(a, image);
        if (j < a.count) {
            prepare(at<float>(a.numbers) + (image * MAX_OPERATIONS + j) * NUMBERS, a.ops[j], row);
            if (a.ops[j].kind == BLUR) {
                weigh_smoothing(smoothing(a, image), a.ops[j], row);
            }
        } else {
            const Rectangle crop = resized(row, a.ops[0]);
            int32_t *weights = weights_of(a, image, rows, columns);
            const int line = j - (int) a.count;
            if (line < rows) {
                weigh(weights + line * (2 + a.taps_down), a.ops[0].setting >> 1, line, crop.height, rows);
            } else {
                weigh(weights + rows * (2 + a.taps_down) + (line - rows) * (2 + a.taps_across),
                        a.ops[0].setting >> 1, line - rows, crop.width, columns);
            }
        }
    }
}

/* ---- colors */

struct Pixel { int v[4]; };                                 /* those of channels that there are */

constexpr float ONE_255TH = (float) (1.0 / 255);
constexpr float ONE_SIXTH = (float) (1.0 / 6);
constexpr float TO_U8 = (float) (255 + 1.0 - 1e-3);

FUNCTION float clamped(float x, float high) { return fminf(fmaxf(x, 0.0f), high); }

FUNCTION int truncated(float x) { return (int) clamped(x, 255.0f); }

/* Towards 0; beyond the sides of every image for what is large, 0 for a NaN. */
FUNCTION int index_of(float x) { return x != x ? 0 : (int) fminf(fmaxf(x, -0x1p30f), 0x1p30f); }

FUNCTION int gray(const Pixel &p) {
    return (int) (0.2989f * (float) p.v[0] + 0.587f * (float) p.v[1] + 0.114f * (float) p.v[2]);
}

FUNCTION void saturate(Pixel &p, float factor, float rest) {
    const float luminance = (float) gray(p);
    for (int c = 0; c < 3; c++) {
        p.v[c] = truncated(fused(rest, luminance, (float) p.v[c] * factor));
    }
}

FUNCTION float fraction(float x) { return x < 0 ? x + 1 : x >= 1 ? x - 1 : x; }

FUNCTION void turn_hue(Pixel &p, float turn) {
    const float r = (float) p.v[0] * ONE_255TH;
    const float g = (float) p.v[1] * ONE_255TH;
    const float b = (float) p.v[2] * ONE_255TH;
    const float v = fmaxf(fmaxf(r, g), b);
    const float range = v - fminf(fminf(r, g), b);
    const float s = range / (range == 0 ? 1 : v);
    const float divisor = range == 0 ? 1 : range;
    const float from = (v == r ? v - b : v == g ? v - r : v - g) / divisor;
    const float less = (v == r ? v - g : v == g ? v - b : v - r) / divisor;
    const float h = from + (v == r ? 0.0f : v == g ? 2.0f : 4.0f) - less;
    const float h6 = fraction(fraction(h * ONE_SIXTH + 1) + turn) * 6;
    const int sector = index_of(h6);
    const float f = h6 - (float) sector;
    const float sf = s * f;
    const float white = 1 - s;
    const int top = (int) (v * TO_U8);
    const int low = (int) (clamped(white * v, 1.0f) * TO_U8);
    const int falling = (int) (clamped((1 - sf) * v, 1.0f) * TO_U8);
    const int rising = (int) (clamped((sf + white) * v, 1.0f) * TO_U8);
    switch (sector) {
        case 1: p.v[0] = falling; p.v[1] = top; p.v[2] = low; break;
        case 2: p.v[0] = low; p.v[1] = top; p.v[2] = rising; break;
        case 3: p.v[0] = low; p.v[1] = falling; p.v[2] = top; break;
        case 4: p.v[0] = rising; p.v[1] = low; p.v[2] = top; break;
        case 5: p.v[0] = top; p.v[1] = low; p.v[2] = falling; break;
        default: p.v[0] = top; p.v[1] = rising; p.v[2] = low; break;
    }
}

/* A change of each channel alone. */
template <class F> FUNCTION void change(Pixel &p, const F &f) {
    for (int c = 0; c < 4; c++) {
        p.v[c] = f(p.v[c], c);
    }
}

FUNCTION void brighten(Pixel &p, float factor) {
    change(p, [=](int v, int) { return truncated((float) v * factor); });
}

FUNCTION void posterize(Pixel &p, float bits) {
    const int mask = 0xFF00 >> (int) clamped(bits, 8.0f);
    change(p, [=](int v, int) { return v & mask & 0xFF; });
}

FUNCTION void solarize(Pixel &p, float threshold) {
    change(p, [=](int v, int) { return (float) v >= threshold ? 255 - v : v; });
}

FUNCTION void look_up(Pixel &p, const uint8_t *tables, int64_t channels) {
    change(p, [=](int v, int c) { return c < channels ? tables[c * TABLE_VALUES + v] : 0; });
}

/* The changes of a color jitter, in the order of the parameters: those before the contrast, or it and those behind. */
FUNCTION void jitter(Pixel &p, const Op &op, const uint8_t *order, const float *numbers, const uint8_t *tables,
        int64_t channels) {
    bool begun = op.kind == JITTER;
    for (int i = 0; i < 4; i++) {
        const int what = order[i];
        if (what > JITTER_HUE || (op.setting >> what & 1) == 0) {
            continue;
        }
        if (what == JITTER_CONTRAST) {
            if (op.kind == JITTER) {
                return;
            }
            if (!begun) {
                look_up(p, tables, channels);
                begun = true;
            }
        } else if (begun && what == JITTER_BRIGHTNESS) {
            brighten(p, numbers[JITTER_BRIGHTNESS]);
        } else if (begun && channels == 3) {
            if (what == JITTER_SATURATION) {
                saturate(p, numbers[JITTER_SATURATION], numbers[4 + JITTER_SATURATION]);
            } else {
                turn_hue(p, numbers[JITTER_HUE]);
            }
        }
    }
}

FUNCTION void color(Pixel &p, const Op &op, const uint8_t *row, const float *numbers, const uint8_t *tables,
        int64_t channels) {
    const uint8_t *parameters = row + op.record;
    switch (op.kind) {
        case JITTER: case JITTER_REST: jitter(p, op, parameters, numbers, tables, channels); return;
        case POLICY:
            switch (parameters[0]) {
                case POLICY_BRIGHTNESS: brighten(p, numbers[6]); break;
                case POLICY_COLOR:
                    if (channels == 3) {
                        saturate(p, numbers[6], numbers[7]);
                    }
                    break;
                case POLICY_POSTERIZE: posterize(p, numbers[6]); break;
                case POLICY_SOLARIZE: solarize(p, numbers[6]); break;
                case POLICY_INVERT: solarize(p, 0); break;
                case POLICY_CONTRAST: case POLICY_AUTOCONTRAST: case POLICY_EQUALIZE:
                    look_up(p, tables, channels);
                    break;
                default: break;
            }
            return;
        case TONE: look_up(p, tables, channels); return;
        default: break;
    }
    if (op.kind < GRAYSCALE || parameters[0] == 0) {
        return;
    }
    switch (op.kind) {
        case GRAYSCALE:
            if (channels == 3) {
                const int luminance = gray(p);
                change(p, [=](int, int) { return luminance; });
            }
            break;
        case POSTERIZE: posterize(p, op.amount); break;
        case SOLARIZE: solarize(p, op.amount); break;
        default: look_up(p, tables, channels); break;       /* autocontrast, equalize */
    }
}

/* ---- tables of an image that is whole */

/* Which policy's operation needs a table, of a pass's first operation. */
FUNCTION int measured(const Op &op, const uint8_t *row) {
    const int what = row[op.record];
    switch (op.kind) {
        case JITTER_REST: return POLICY_CONTRAST;
        case TONE: return TONE_CURVE;
        case AUTOCONTRAST: return what != 0 ? POLICY_AUTOCONTRAST : POLICY_IDENTITY;
        case EQUALIZE: return what != 0 ? POLICY_EQUALIZE : POLICY_IDENTITY;
        case POLICY:
            if (what == POLICY_CONTRAST || what == POLICY_AUTOCONTRAST || what == POLICY_EQUALIZE) {
                return what;
            }
            return POLICY_IDENTITY;
        default: return POLICY_IDENTITY;
    }
}

FUNCTION Pixel load(const uint8_t *from, int64_t channels) {
    Pixel p;
    for (int c = 0; c < 4; c++) {
        p.v[c] = c < channels ? from[c] : 0;
    }
    return p;
}

/* A value of a curve: a power, or a line. */
FUNCTION int toned(const Op &op, const uint8_t *row, int value) {
    const double first = real(row, op.record, 0);
    if (op.setting == 0) {
        const double power = within(first, 0, 0x1p1022);
        const double x = (double) ((float) value * ONE_255TH);
        const double y = power == 0 ? 1 : value == 0 ? 0 : exponential(power * logarithm(x));
        return truncated((float) y * TO_U8);
    }
    return (int) rintf(clamped((float) first * (float) value + (float) (real(row, op.record, 1) * 255), 255.0f));
}

/* A block takes an image; sums are of integers, so their order does not matter. */
KERNEL(penstock_augment_measure, Pass) {
    SHARED uint32_t counts[TABLES][TABLE_VALUES];
    SHARED int32_t greatest[TABLES], greatest_rest[TABLES];     /* of the values, and of 255 less these */
    SHARED uint64_t sum;
    const Op &op = a.ops[0];
    const int64_t pixels = (int64_t) op.height * op.width;
    FOR_BLOCKS(image, a.batch) {
        const int what = measured(op, row_of(a, image));
        if (what == POLICY_IDENTITY) {
            continue;
        }
        const uint8_t *source = at<const uint8_t>(a.source) + image * pixels * a.channels;
        PHASE(t) {
            for (int c = 0; c < TABLES; c++) {
                counts[c][t] = 0;
            }
            if (t < TABLES) {
                greatest[t] = 0;
                greatest_rest[t] = 0;
            }
            if (t == 0) {
                sum = 0;
            }
        }
        PHASE(t) {
            uint64_t own = 0;
            ROLLED for (int64_t i = what == TONE_CURVE ? pixels : t; i < pixels; i += BLOCK_THREADS) {
                const Pixel p = load(source + i * a.channels, a.channels);
                if (what == POLICY_CONTRAST) {
                    own += a.channels == 3 ? gray(p) : p.v[0];
                } else {
                    for (int c = 0; c < TABLES; c++) {
                        if (c < a.channels) {
                            shared_add(&counts[c][p.v[c]], 1u);
                        }
                    }
                }
            }
            shared_add(&sum, own);
        }
        PHASE(t) {
            for (int c = 0; c < TABLES; c++) {
                if (counts[c][t] > 0) {
                    shared_max(&greatest[c], t);
                    shared_max(&greatest_rest[c], 255 - t);
                }
            }
        }
        PHASE(t) {
            const float *numbers = at<const float>(a.numbers) + image * MAX_OPERATIONS * NUMBERS;
            uint8_t *tables = at<uint8_t>(a.tables) + image * (TABLES * TABLE_VALUES);
            for (int c = 0; c < TABLES; c++) {
                int value = t;
                const int least = 255 - greatest_rest[c];
                const int most = greatest[c];
                if (what == TONE_CURVE) {
                    value = toned(op, row_of(a, image), t);
                } else if (what == POLICY_CONTRAST) {
                    const float mean = (float) (int64_t) sum / ((float) op.height * (float) op.width);
                    const float factor = op.kind == POLICY ? numbers[6] : numbers[JITTER_CONTRAST];
                    const float rest = op.kind == POLICY ? numbers[7] : numbers[4 + JITTER_CONTRAST];
                    value = truncated((float) t * factor + rest * mean);
                } else if (what == POLICY_AUTOCONTRAST) {
                    if (least < most && t >= least && t <= most) {
                        value = truncated((float) (t - least) / ((float) (most - least) * ONE_255TH));
                    }
                } else if (c < a.channels) {
                    const uint32_t step = (uint32_t) (pixels - counts[c][most]) / 255;
                    if (step > 0) {
                        uint32_t below = step / 2;
                        for (int v = 0; v < t; v++) {
                            below += counts[c][v];
                        }
                        value = below / step < 255 ? (int) (below / step) : 255;
                    }
                }
                tables[c * TABLE_VALUES + t] = (uint8_t) value;
            }
        }
    }
}

/* ---- pixels that move */

/* In the order of the Java enum Padding.Mode. */
enum { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_SYMMETRIC };

/* A row or column of an image of n, or of its border; -1 for the fill. */
FUNCTION int inside(int i, int n, int mode) {
    if (i >= 0 && i < n) {
        return i;
    }
    switch (mode) {
        case PAD_EDGE: return i < 0 ? 0 : n - 1;
        case PAD_REFLECT: return i < 0 ? -i : 2 * n - 2 - i;
        case PAD_SYMMETRIC: return i < 0 ? -i - 1 : 2 * n - 1 - i;
        default: return -1;
    }
}

/* Where pixels come from, of operations that only move them: factors and offsets, unless some fill pixels. */
struct Places {
    int y_factor, y_offset, x_factor, x_offset;
    bool fills;
};

/* What the threads that make an image share. */
struct Image {
    int64_t number;
    const uint8_t *row, *source, *tables;
    const float *numbers;                                   /* of the first operation */
    Places before, behind;                                  /* the gathering operation */
};

FUNCTION int top_of(const Pass &a, const uint8_t *row, int k) {
    const Op &op = a.ops[k];
    const int border = (int) op.amount;
    return op.kind == PAD ? -border
            : limit(whole(row + op.record, 0), 0, op.height + 2 * border - height_after(a, k)) - border;
}

FUNCTION int left_of(const Pass &a, const uint8_t *row, int k) {
    const Op &op = a.ops[k];
    const int border = (int) op.amount;
    return op.kind == PAD ? -border
            : limit(whole(row + op.record, 1), 0, op.width + 2 * border - width_after(a, k)) - border;
}

/* Of the operations from begin to end - 1, of which those on colors move nothing. */
FUNCTION Places places_of(const Pass &a, const uint8_t *row, int begin, int end) {
    Places p = {1, 0, 1, 0, false};
    ROLLED for (int k = end - 1; k >= begin; k--) {
        const Op &op = a.ops[k];
        const bool applied = row[op.record] != 0;
        if (op.kind == FLIP_HORIZONTALLY && applied) {
            p.x_factor = -p.x_factor;
            p.x_offset = op.width - 1 - p.x_offset;
        } else if (op.kind == FLIP_VERTICALLY && applied) {
            p.y_factor = -p.y_factor;
            p.y_offset = op.height - 1 - p.y_offset;
        } else if (op.kind == CROP || op.kind == PAD) {
            p.y_offset += top_of(a, row, k);
            p.x_offset += left_of(a, row, k);
            p.fills |= op.amount != 0;
        } else {
            p.fills |= op.kind == ERASE;
        }
    }
    return p;
}

/*
 * Walks back from a pixel behind operation end - 1 to the one before operation begin that it shows. Returns the
 * operation that fills it instead, or begin - 1.
 */
FUNCTION int walk_back(const Pass &a, const uint8_t *row, const Places &places, int begin, int end, int &y, int &x) {
    if (!places.fills) {
        y = places.y_factor * y + places.y_offset;
        x = places.x_factor * x + places.x_offset;
        return begin - 1;
    }
    ROLLED for (int k = end - 1; k >= begin; k--) {
        const Op &op = a.ops[k];
        const uint8_t *parameters = row + op.record;
        switch (op.kind) {
            case FLIP_HORIZONTALLY: x = parameters[0] ? op.width - 1 - x : x; break;
            case FLIP_VERTICALLY: y = parameters[0] ? op.height - 1 - y : y; break;
            case CROP: case PAD:
                y = inside(y + top_of(a, row, k), op.height, op.setting);
                x = inside(x + left_of(a, row, k), op.width, op.setting);
                if (y < 0 || x < 0) {
                    return k;
                }
                break;
            case ERASE: {
                const Rectangle r = rectangle(parameters, op, 0);
                if (y >= r.top && y < r.top + r.height && x >= r.left && x < r.left + r.width) {
                    return k;
                }
                break;
            }
            default: break;
        }
    }
    return begin - 1;
}

FUNCTION Pixel filled(const Op &op) {
    Pixel p;
    change(p, [&](int, int) { return (int) op.fill; });
    return p;
}

FUNCTION Pixel read(const Pass &a, const uint8_t *source, int y, int x) {
    return load(source + ((int64_t) y * a.ops[0].width + x) * a.channels, a.channels);
}

/* A pixel of what operation k is applied to, if those before it only move pixels. */
FUNCTION Pixel tap(const Pass &a, const Image &image, int k, int y, int x) {
    const int filling = walk_back(a, image.row, image.before, 0, k, y, x);
    return filling >= 0 ? filled(a.ops[filling]) : read(a, image.source, y, x);
}

/* ---- operations that read several pixels for one */

FUNCTION Pixel resize(const Pass &a, const Image &image, int y, int x) {
    const Op &op = a.ops[0];
    const int rows = height_after(a, 0);
    const int columns = width_after(a, 0);
    const Rectangle crop = resized(image.row, op);
    const int32_t *weights = weights_of(a, image.number, rows, columns);
    const int32_t *down = weights + y * (2 + a.taps_down);
    const int32_t *across = weights + rows * (2 + a.taps_down) + x * (2 + a.taps_across);
    Pixel sum;
    change(sum, [](int, int) { return WEIGHT_HALF; });
    ROLLED for (int i = 0; i < down[1]; i++) {
        Pixel line;
        change(line, [](int, int) { return WEIGHT_HALF; });
        ROLLED for (int j = 0; j < across[1]; j++) {
            const Pixel p = read(a, image.source, crop.top + down[0] + i, crop.left + across[0] + j);
            change(line, [&](int v, int c) { return v + across[2 + j] * p.v[c]; });
        }
        change(sum, [&](int v, int c) { return v + down[2 + i] * limit(line.v[c] >> WEIGHT_BITS, 0, 255); });
    }
    change(sum, [](int v, int) { return limit(v >> WEIGHT_BITS, 0, 255); });
    return sum;
}

FUNCTION Pixel warp(const Pass &a, const Image &image, int k, int i, int j) {
    const Op &op = a.ops[k];
    const float *m = image.numbers + k * NUMBERS;
    const bool projects = op.kind == WARP && (op.setting & 4);
    const float y = projects ? (float) i + 0.5f : (float) i - (float) (op.height - 1) * 0.5f;
    const float x = projects ? (float) j + 0.5f : (float) j - (float) (op.width - 1) * 0.5f;
    float column = m[0] * x + m[1] * y + m[2];
    float line = m[3] * x + m[4] * y + m[5];
    if (projects) {
        const float divisor = m[6] * x + m[7] * y + 1;
        column = column / divisor - 0.5f;
        line = line / divisor - 0.5f;
    }
    if (!(line > -1 && line < (float) op.height && column > -1 && column < (float) op.width)) {
        return filled(op);
    }
    if ((op.setting & 1) == 0) {
        const int at_y = (int) rintf(line);
        const int at_x = (int) rintf(column);
        if (at_y >= 0 && at_y < op.height && at_x >= 0 && at_x < op.width) {
            return tap(a, image, k, at_y, at_x);
        }
        return filled(op);
    }
    const int top = (int) floorf(line);
    const int left = (int) floorf(column);
    const float down = line - (float) top;
    const float right = column - (float) left;
    float values[4] = {0, 0, 0, 0};
    float covered = 0;
    int taps = 0;
    for (int t = 0; t < 4; t++) {
        const int at_y = top + (t >> 1);
        const int at_x = left + (t & 1);
        if (at_y >= 0 && at_y < op.height && at_x >= 0 && at_x < op.width) {
            const float weight = ((t & 1) ? right : 1 - right) * ((t >> 1) ? down : 1 - down);
            const Pixel p = tap(a, image, k, at_y, at_x);
            for (int c = 0; c < 4; c++) {
                values[c] += weight * (float) p.v[c];
            }
            covered += weight;
            taps++;
        }
    }
    const float outside = taps == 4 ? 0 : (1 - covered) * (float) op.fill;
    Pixel result;
    change(result, [&](int, int c) { return limit((int) rintf(values[c] + outside), 0, 255); });
    return result;
}

FUNCTION Pixel sharpen(const Pass &a, const Image &image, float rest, int k, int y, int x) {
    Pixel own = {};
    Pixel sum = {};
    ROLLED for (int t = 0; t < 9; t++) {
        const Pixel p = tap(a, image, k, y + t / 3 - 1, x + t % 3 - 1);
        own = t == 4 ? p : own;
        change(sum, [&](int v, int c) { return v + (t == 4 ? 5 : 1) * p.v[c]; });
    }
    change(sum, [&](int v, int c) {
        const int smooth = (2 * v + 13) / 26;
        return truncated(fused(rest, (float) (smooth - own.v[c]), (float) own.v[c]));
    });
    return sum;
}

/* The rows of a blur over the sums of its columns. */
FUNCTION Pixel smooth(const Pass &a, const Image &image, int y, int x) {
    const Op &op = a.ops[0];
    const int size = (int) op.amount;
    const float *weights = smoothing(a, image.number);
    const float *line = at<const float>(a.more) + (image.number * op.height + y) * op.width * a.channels;
    float sums[4] = {0, 0, 0, 0};
    ROLLED for (int k = 0; k < size; k++) {
        const float *sum = line + inside(x + k - size / 2, op.width, PAD_REFLECT) * a.channels;
        for (int c = 0; c < 4; c++) {
            sums[c] += c < a.channels ? weights[k] * sum[c] : 0;
        }
    }
    Pixel p;
    change(p, [&](int, int c) { return limit((int) rintf(sums[c]), 0, 255); });
    return p;
}

/* The sum of the image and its chains by their weights, which are the parameters; the setting counts the chains. */
FUNCTION Pixel mix(const Pass &a, const Image &image, int y, int x) {
    const Op &op = a.ops[0];
    const uint8_t *weights = image.row + op.record;
    const int64_t stride = a.batch * op.height * op.width * a.channels;
    const uint8_t *chains = at<const uint8_t>(a.more)
            + ((image.number * op.height + y) * op.width + x) * a.channels;
    float sums[4];
    const Pixel own = read(a, image.source, y, x);
    for (int c = 0; c < 4; c++) {
        sums[c] = single(weights, 0) * (float) own.v[c];
    }
    ROLLED for (int i = 0; i < op.setting; i++) {
        const Pixel other = load(chains + i * stride, a.channels);
        for (int c = 0; c < 4; c++) {
            sums[c] += single(weights, 1 + i) * (float) other.v[c];
        }
    }
    Pixel p;
    change(p, [&](int, int c) { return truncated(sums[c]); });
    return p;
}

/* A word of SplitMix64, by its number from 0. */
FUNCTION uint64_t word_of(uint64_t state, uint64_t number) {
    uint64_t z = state + (number + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* The pixel and a normal number for each channel, of a table by the highest 12 of 16 bits of a word. */
FUNCTION Pixel noisy(const Pass &a, const Image &image, int k, int y, int x) {
    const Op &op = a.ops[k];
    const float deviation = (float) (within(real(image.row, op.record, 0), 0, 1) * 255);
    const uint64_t key = (uint64_t) within(real(image.row, op.record, 1), 0, 0x1p53);
    const uint64_t first = ((uint64_t) y * op.width + x) * a.channels;
    Pixel p = tap(a, image, k, y, x);
    change(p, [&](int v, int c) {
        const uint64_t draw = word_of(key, (first + c) / 4) >> (first + c) % 4 * 16;
        const float value = (float) v + deviation * at<const float>(a.more)[draw >> 4 & 0xFFF];
        return (int) rintf(clamped(value, 255.0f));
    });
    return p;
}

FUNCTION Pixel gathered(const Pass &a, const Image &image, int k, int y, int x) {
    const Op &op = a.ops[k];
    const int what = image.row[op.record];
    switch (op.kind) {
        case RESIZE: return resize(a, image, y, x);
        case BLUR: return smooth(a, image, y, x);
        case MIX: return mix(a, image, y, x);
        case NOISE: return noisy(a, image, k, y, x);
        default: break;
    }
    if (op.kind == WARP || (op.kind == POLICY && what >= POLICY_SHEAR_X && what <= POLICY_ROTATE)) {
        return warp(a, image, k, y, x);
    }
    const bool sharpens = op.kind == POLICY ? what == POLICY_SHARPNESS : what != 0;
    if (sharpens && y > 0 && x > 0 && y < op.height - 1 && x < op.width - 1) {
        return sharpen(a, image, op.kind == POLICY ? image.numbers[k * NUMBERS + 7] : op.amount, k, y, x);
    }
    return tap(a, image, k, y, x);
}

FUNCTION Pixel pixel(const Pass &a, const Image &image, int y, int x) {
    const int count = (int) a.count;
    const int gather = (int) a.gather;
    int last = walk_back(a, image.row, image.behind, gather + 1, count, y, x);
    Pixel p;
    if (last > gather) {
        p = filled(a.ops[last]);
    } else if (gather < 0) {
        p = read(a, image.source, y, x);
    } else {
        p = gathered(a, image, gather, y, x);
        last = gather - 1;                                  /* a policy's colors are behind its gathering */
    }
    ROLLED for (int k = last + 1; k < count; k++) {
        color(p, a.ops[k], image.row, image.numbers + k * NUMBERS, image.tables, a.channels);
    }
    return p;
}

/* Each value's column of a blur, in the order of the weights. */
KERNEL(penstock_augment_columns, Pass) {
    const Op &op = a.ops[0];
    const int size = (int) op.amount;
    const int64_t line = op.width * a.channels;
    const int64_t values = op.height * line;
    FOR_EACH(i, a.batch * values) {
        const int64_t image = i / values;
        const int64_t y = (i - image * values) / line;
        const uint8_t *column = at<const uint8_t>(a.source) + i - y * line;
        const float *weights = smoothing(a, image);
        float sum = 0;
        ROLLED for (int k = 0; k < size; k++) {
            sum += weights[k] * (float) column[inside((int) y + k - size / 2, op.height, PAD_REFLECT) * line];
        }
        at<float>(a.more)[i] = sum;
    }
}

constexpr int PIECE_PIXELS = 8 * BLOCK_THREADS;

/* A block takes some rows of an image, a thread some pixels of these. */
KERNEL(penstock_augment, Pass) {
    const int height = (int) a.height;
    const int width = (int) a.width;
    const int rows = width < PIECE_PIXELS ? PIECE_PIXELS / width : 1;
    const int pieces = (height + rows - 1) / rows;
    FOR_BLOCKS(piece, a.batch * pieces) {
        PHASE(t) {
            Image image;
            image.number = piece / pieces;
            image.row = row_of(a, image.number);
            image.source = at<const uint8_t>(a.source)
                    + image.number * a.channels * a.ops[0].height * a.ops[0].width;
            image.tables = at<const uint8_t>(a.tables) + image.number * (TABLES * TABLE_VALUES);
            image.numbers = at<const float>(a.numbers) + image.number * MAX_OPERATIONS * NUMBERS;
            image.before = places_of(a, image.row, 0, (int) a.gather);
            image.behind = places_of(a, image.row, (int) a.gather + 1, (int) a.count);
            const int first = (int) (piece - image.number * pieces) * rows;
            const int end = first + rows < height ? first + rows : height;
            int y = first + t / width;
            int x = t % width;
            ROLLED while (y < end) {
                const Pixel p = pixel(a, image, y, x);
                uint8_t *target = at<uint8_t>(a.target)
                        + ((image.number * height + y) * width + x) * a.channels;
                for (int c = 0; c < 4; c++) {
                    if (c < a.channels) {
                        target[c] = (uint8_t) p.v[c];
                    }
                }
                y += BLOCK_THREADS / width;
                x += BLOCK_THREADS % width;
                if (x >= width) {
                    x -= width;
                    y++;
                }
            }
        }
    }
}
