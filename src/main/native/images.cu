// SPDX-License-Identifier: Apache-2.0
/* Images of u8: normalise and cast in one pass. Twin: io.penstock.transform.ImageTransform. */
#include "floats.cuh"

constexpr int MAX_CHANNELS = 4;

struct Images {
    int64_t source, batch, channels, height, width, source_channels_last;
    int64_t target, target_type, target_channels_last;
    float mean[MAX_CHANNELS];
    float deviation[MAX_CHANNELS];
};

/* A block takes a row of an image, a thread a pixel: the one division by a size is once a row. */
KERNEL(penstock_images, Images) {
    FOR_BLOCKS(row, a.batch * a.height) {
        PHASE(t) {
            const int64_t image = (uint32_t) row / (uint32_t) a.height;
            const int64_t y = row - image * a.height;
            ROLLED for (int64_t x = t; x < a.width; x += BLOCK_THREADS) {
                ROLLED for (int c = 0; c < a.channels; c++) {
                    const int64_t interleaved = (row * a.width + x) * a.channels + c;
                    const int64_t planar = ((image * a.channels + c) * a.height + y) * a.width + x;
                    const uint8_t pixel = at<const uint8_t>(a.source)[
                            a.source_channels_last != 0 ? interleaved : planar];
                    const float value = ((float) pixel / 255.0f - a.mean[c]) / a.deviation[c];
                    const int64_t to = a.target_channels_last != 0 ? interleaved : planar;
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
