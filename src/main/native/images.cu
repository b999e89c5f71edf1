// SPDX-License-Identifier: Apache-2.0
/* Images of u8: crop, flip, normalise, cast, in one pass. Twin: io.penstock.transform.ImageTransform. */
#include "floats.cuh"

constexpr int MAX_CHANNELS = 4;

struct Images {
    int64_t source, batch, channels, height, width, source_channels_last;
    int64_t crop_height, crop_width;
    int64_t crops;                      /* i32 [batch, 4]: y, x, flip, not used; or 0 for crop_y and crop_x */
    int64_t crop_y, crop_x;
    int64_t target, target_type, target_channels_last;
    float mean[MAX_CHANNELS];
    float deviation[MAX_CHANNELS];
};

FUNCTION int64_t clamp(int64_t x, int64_t greatest) {
    return x < 0 ? 0 : x > greatest ? greatest : x;
}

/* A block takes a row of an image, a thread a pixel: the one division by a size is once a row. */
KERNEL(penstock_images, Images) {
    FOR_BLOCKS(row, a.batch * a.crop_height) {
        PHASE(t) {
            const int64_t image = (uint32_t) row / (uint32_t) a.crop_height;
            const int64_t y = row - image * a.crop_height;
            const int32_t *crop = at<const int32_t>(a.crops) + 4 * image;
            const int64_t top = clamp(a.crops == 0 ? a.crop_y : crop[0], a.height - a.crop_height);
            const int64_t left = clamp(a.crops == 0 ? a.crop_x : crop[1], a.width - a.crop_width);
            const bool flip = a.crops != 0 && crop[2] != 0;
            const uint8_t *source = at<const uint8_t>(a.source) + image * a.channels * a.height * a.width;
            ROLLED for (int64_t x = t; x < a.crop_width; x += BLOCK_THREADS) {
                const int64_t from = (top + y) * a.width + left + (flip ? a.crop_width - 1 - x : x);
                ROLLED for (int c = 0; c < a.channels; c++) {
                    const uint8_t pixel = a.source_channels_last != 0
                            ? source[from * a.channels + c] : source[c * a.height * a.width + from];
                    const float value = ((float) pixel / 255.0f - a.mean[c]) / a.deviation[c];
                    const int64_t to = a.target_channels_last != 0
                            ? (row * a.crop_width + x) * a.channels + c
                            : ((image * a.channels + c) * a.crop_height + y) * a.crop_width + x;
                    switch (a.target_type) {
                        case BF16: at<uint16_t>(a.target)[to] = bf16_of(value); break;
                        case F16: at<uint16_t>(a.target)[to] = f16_of(value); break;
                        default: at<float>(a.target)[to] = value; break;
                    }
                }
            }
        }
    }
}
