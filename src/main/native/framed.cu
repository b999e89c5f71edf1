// SPDX-License-Identifier: Apache-2.0
/*
 * Decoded images of all sizes become images of one size. Twin: io.penstock.image.nvjpeg.FramedImages.
 *
 * A row of a batch is a frame, then either the image's file, whose pixels [height, width, 3] a decoder has written to
 * scratch memory, or the result itself. The frame says which part of the image is resized to which size, which part of
 * that is the result, and whether that is mirrored.
 *
 *   penstock_framed_weigh    for each decoded image: the weights of its result's rows, then of its columns
 *   penstock_framed          the results
 */
#include "weights.cuh"

/* What io.penstock.image.reading.FramedFile writes. */
struct Frame {
    int32_t file_bytes;                                     /* 0 if the result follows */
    int32_t height, width;                                  /* of the image */
    int32_t top, left, part_height, part_width;
    int32_t resized_height, resized_width;                  /* of the part */
    int32_t crop_top, crop_left;                            /* of the result in the resized part */
    int32_t mirrored, filter;
    int32_t unused[3];
};

struct Framed {
    int64_t rows, row_bytes;                                /* u8 [batch, row_bytes] */
    int64_t places;                                         /* i64 [batch, 2]: of an image and its weights */
    int64_t scratch;                                        /* from where places count, in bytes */
    int64_t first, count;                                   /* the images that are made */
    int64_t height, width;                                  /* of the results */
    int64_t target;                                         /* u8 [batch, height, width, 3] */
    int64_t decoded;                                        /* bool [batch] */
};

constexpr int64_t DAMAGED = -1;                             /* the place of an image that cannot be decoded: it is black */

FUNCTION const Frame &frame_of(const Framed &a, int64_t image) {
    return *at<const Frame>(a.rows + image * a.row_bytes);
}

FUNCTION int64_t place_of(const Framed &a, int64_t image, int part) {
    return at<const int64_t>(a.places)[2 * image + part];
}

/* In the order of the Java enum Resizer.Filter. */
FUNCTION int filter_of(const Frame &frame) {
    return frame.filter == 0 ? FILTER_BILINEAR : frame.filter == 1 ? FILTER_BOX : FILTER_BICUBIC;
}

/* The most input pixels that an output pixel weighs. */
FUNCTION int taps(const Frame &frame, int from, int to) {
    const double scale = (double) from / to;
    return (int) ceil((filter_of(frame) == FILTER_BICUBIC ? 2 : 1) * (scale > 1 ? scale : 1)) * 2 + 1;
}

FUNCTION int32_t *row_weights(const Framed &a, const Frame &frame, int64_t image, int row) {
    return at<int32_t>(a.scratch + place_of(a, image, 1))
            + (int64_t) row * (2 + taps(frame, frame.part_height, frame.resized_height));
}

FUNCTION int32_t *column_weights(const Framed &a, const Frame &frame, int64_t image, int column) {
    return row_weights(a, frame, image, (int) a.height)
            + (int64_t) column * (2 + taps(frame, frame.part_width, frame.resized_width));
}

KERNEL(penstock_framed_weigh, Framed) {
    const int64_t items = a.height + a.width;
    FOR_EACH(i, a.count * items) {
        const int64_t image = a.first + i / items;
        const Frame &frame = frame_of(a, image);
        if (frame.file_bytes == 0 || place_of(a, image, 0) == DAMAGED) {
            continue;
        }
        const int line = (int) (i % items);
        if (line < a.height) {
            weigh(row_weights(a, frame, image, line), filter_of(frame), frame.crop_top + line, frame.part_height,
                    frame.resized_height);
        } else {
            const int column = line - (int) a.height;
            weigh(column_weights(a, frame, image, column), filter_of(frame), frame.crop_left + column,
                    frame.part_width, frame.resized_width);
        }
    }
}

FUNCTION void resize(const Framed &a, const Frame &frame, int64_t image, int y, int x, uint8_t *to) {
    const uint8_t *pixels = at<const uint8_t>(a.scratch + place_of(a, image, 0));
    const int32_t *down = row_weights(a, frame, image, y);
    const int32_t *across = column_weights(a, frame, image, frame.mirrored ? (int) a.width - 1 - x : x);
    int sum[3] = {WEIGHT_HALF, WEIGHT_HALF, WEIGHT_HALF};
    ROLLED for (int i = 0; i < down[1]; i++) {
        int line[3] = {WEIGHT_HALF, WEIGHT_HALF, WEIGHT_HALF};
        const uint8_t *from = pixels + ((int64_t) (frame.top + down[0] + i) * frame.width + frame.left + across[0]) * 3;
        ROLLED for (int j = 0; j < across[1]; j++) {
            for (int c = 0; c < 3; c++) {
                line[c] += across[2 + j] * from[3 * j + c];
            }
        }
        for (int c = 0; c < 3; c++) {
            sum[c] += down[2 + i] * limit(line[c] >> WEIGHT_BITS, 0, 255);
        }
    }
    for (int c = 0; c < 3; c++) {
        to[c] = (uint8_t) limit(sum[c] >> WEIGHT_BITS, 0, 255);
    }
}

KERNEL(penstock_framed, Framed) {
    const int64_t pixels = a.height * a.width;
    FOR_EACH(i, a.count * pixels) {
        const int64_t image = a.first + i / pixels;
        const int64_t pixel = i % pixels;
        const Frame &frame = frame_of(a, image);
        const bool damaged = place_of(a, image, 0) == DAMAGED;
        uint8_t *to = at<uint8_t>(a.target) + (image * pixels + pixel) * 3;
        if (pixel == 0) {
            at<uint8_t>(a.decoded)[image] = damaged ? 0 : 1;
        }
        if (damaged || frame.file_bytes == 0) {
            const uint8_t *from = (const uint8_t *) (&frame + 1) + 3 * pixel;
            for (int c = 0; c < 3; c++) {
                to[c] = damaged ? 0 : from[c];
            }
        } else {
            resize(a, frame, image, (int) (pixel / a.width), (int) (pixel % a.width), to);
        }
    }
}
