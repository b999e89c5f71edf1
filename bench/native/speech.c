// SPDX-License-Identifier: Apache-2.0
// The limit of one thread for speech: each file is decoded by FFmpeg's libraries, becomes one channel of 16 kHz and 5
// seconds, then Whisper's log-mel of 80 bands, in a batch of 16. Prints a JSON line; result.f32 receives the first one.
//
//     gcc -O3 -march=native -ffast-math speech.c -o speech -lavformat -lavcodec -lavutil -lfftw3f -lm
//     speech FOLDER SECONDS [result.f32]
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <fftw3.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>

enum { RATE = 16000, LENGTH = 5 * RATE, SIZE = 400, HOP = 160, BINS = SIZE / 2 + 1, FRAMES = LENGTH / HOP, BANDS = 80,
    BATCH = 16, MOST_SAMPLES = 1 << 20, MOST_PHASES = 320, MOST_TAPS = 256, MOST_FILES = 1000 };

static float sound[MOST_SAMPLES], at_rate[MOST_SAMPLES], mirrored[LENGTH + SIZE];
static float windowed[FRAMES][SIZE], kernel[MOST_PHASES][MOST_TAPS];
static int kernel_first[MOST_PHASES], kernel_count[MOST_PHASES], kernel_rate, up, down;
static fftwf_complex spectra[FRAMES][BINS];
static float power[FRAMES][BINS], window[SIZE], filters[BANDS][BINS], batch[BATCH][BANDS][FRAMES];
static int filter_first[BANDS], filter_count[BANDS];
static fftwf_plan plan;
static AVFrame *frame;
static AVPacket *packet;

static void must(int ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static int common(int a, int b) { return b == 0 ? a : common(b, a % b); }

// torchaudio's sinc_interp_hann: for each phase the taps that are not 0.
static void set_kernel(int rate) {
    down = rate / common(rate, RATE);
    up = RATE / common(rate, RATE);
    must(up <= MOST_PHASES, "too many phases");
    double base = (down < up ? down : up) * 0.99;
    int width = (int) ceil(6 * down / base);
    for (int j = 0; j < up; j++) {
        kernel_count[j] = 0;
        for (int i = -width; i < width + down; i++) {
            double t = ((double) i / down - (double) j / up) * base;
            if (t > -6 && t < 6) {
                kernel_first[j] = kernel_count[j] == 0 ? i : kernel_first[j];
                must(kernel_count[j] < MOST_TAPS, "too many taps");
                double c = cos(t * M_PI / 12), s = t == 0 ? 1 : sin(M_PI * t) / (M_PI * t);
                kernel[j][kernel_count[j]++] = (float) (s * c * c * base / down);
            }
        }
    }
    kernel_rate = rate;
}

static int resample(int count) {
    int made = (int) (((int64_t) count * up + down - 1) / down);
    for (int k = 0; k < made; k++) {
        int j = k % up, from = k / up * down + kernel_first[j];
        int low = from < 0 ? -from : 0;
        int high = from + kernel_count[j] > count ? count - from : kernel_count[j];
        float sum = 0;
        for (int i = low; i < high; i++) {
            sum += kernel[j][i] * sound[from + i];
        }
        at_rate[k] = sum;
    }
    return made;
}

static double hertz(double mel) { return mel >= 15 ? 1000 * exp(log(6.4) / 27 * (mel - 15)) : mel * 200 / 3; }

static void set_mel(void) {
    double most = 15 + log(8) * 27 / log(6.4);
    for (int n = 0; n < SIZE; n++) {
        window[n] = (float) (0.5 - 0.5 * cos(2 * M_PI * n / SIZE));
    }
    for (int m = 0; m < BANDS; m++) {
        double a = hertz(most * m / (BANDS + 1)), b = hertz(most * (m + 1) / (BANDS + 1));
        double c = hertz(most * (m + 2) / (BANDS + 1));
        for (int k = 0; k < BINS; k++) {
            double f = (double) k * RATE / SIZE, rising = (f - a) / (b - a), falling = (c - f) / (c - b);
            double weight = fmax(0, fmin(rising, falling)) * 2 / (c - a);
            if (weight > 0) {
                filter_first[m] = filter_count[m] == 0 ? k : filter_first[m];
                filters[m][filter_count[m]++] = (float) weight;
            }
        }
    }
    int size = SIZE;
    plan = fftwf_plan_many_dft_r2c(1, &size, FRAMES, windowed[0], NULL, 1, SIZE, spectra[0], NULL, 1, BINS, FFTW_PATIENT);
}

static void log_mel(const float *samples, float (*out)[FRAMES]) {
    memcpy(mirrored + SIZE / 2, samples, LENGTH * sizeof *samples);
    for (int i = 1; i <= SIZE / 2; i++) {
        mirrored[SIZE / 2 - i] = samples[i];
        mirrored[SIZE / 2 + LENGTH - 1 + i] = samples[LENGTH - 1 - i];
    }
    for (int f = 0; f < FRAMES; f++) {
        for (int n = 0; n < SIZE; n++) {
            windowed[f][n] = mirrored[f * HOP + n] * window[n];
        }
    }
    fftwf_execute(plan);
    for (int f = 0; f < FRAMES; f++) {
        for (int k = 0; k < BINS; k++) {
            power[f][k] = spectra[f][k][0] * spectra[f][k][0] + spectra[f][k][1] * spectra[f][k][1];
        }
    }
    float most = -1000;
    for (int m = 0; m < BANDS; m++) {
        for (int f = 0; f < FRAMES; f++) {
            float sum = 0;
            for (int k = 0; k < filter_count[m]; k++) {
                sum += filters[m][k] * power[f][filter_first[m] + k];
            }
            out[m][f] = sum < 1e-10f ? 1e-10f : sum;
        }
        for (int f = 0; f < FRAMES; f++) {
            out[m][f] = logf(out[m][f]) * 0.4342944819f;
        }
        for (int f = 0; f < FRAMES; f++) {
            most = out[m][f] > most ? out[m][f] : most;
        }
    }
    for (int i = 0; i < BANDS * FRAMES; i++) {
        float x = out[0][i] < most - 8 ? most - 8 : out[0][i];
        out[0][i] = (x + 4) / 4;
    }
}

// The mean of the channels; returns the samples of one.
static int decode(const char *path, int *rate) {
    AVFormatContext *format = NULL;
    must(avformat_open_input(&format, path, NULL, NULL) >= 0, path);
    int count = 0;
    must(format->nb_streams == 1, path);
    AVCodecParameters *of = format->streams[0]->codecpar;
    AVCodecContext *decoder = avcodec_alloc_context3(NULL);
    avcodec_parameters_to_context(decoder, of);
    decoder->thread_count = 1;
    must(avcodec_open2(decoder, avcodec_find_decoder(of->codec_id), NULL) >= 0, path);
    *rate = decoder->sample_rate;
    for (int more = 1; more;) {
        more = av_read_frame(format, packet) >= 0;
        avcodec_send_packet(decoder, more ? packet : NULL);
        av_packet_unref(packet);
        while (avcodec_receive_frame(decoder, frame) >= 0) {
            must(frame->format == AV_SAMPLE_FMT_S16, "expected samples of 16 bits");
            const int16_t *from = (const int16_t *) frame->extended_data[0];
            must(count + frame->nb_samples <= MOST_SAMPLES, "too long");
            if (frame->ch_layout.nb_channels == 2) {
                for (int i = 0; i < frame->nb_samples; i++) {
                    sound[count + i] = ((float) from[2 * i] + (float) from[2 * i + 1]) * (0.5f / 32768);
                }
            } else {
                for (int i = 0; i < frame->nb_samples; i++) {
                    sound[count + i] = (float) from[i] * (1.0f / 32768);
                }
            }
            count += frame->nb_samples;
        }
    }
    avcodec_free_context(&decoder);
    avformat_close_input(&format);
    return count;
}

static double cpu(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

int main(int count, char **arguments) {
    must(count >= 3, "speech FOLDER SECONDS [result.f32]");
    static char paths[MOST_FILES][4096];
    struct dirent **names;
    int found = scandir(arguments[1], &names, NULL, alphasort), files = 0;
    must(found > 0, arguments[1]);
    for (int i = 0; i < found && files < MOST_FILES; i++) {
        if (names[i]->d_name[0] != '.') {
            snprintf(paths[files++], sizeof paths[0], "%s/%s", arguments[1], names[i]->d_name);
        }
    }
    av_log_set_level(AV_LOG_QUIET);
    frame = av_frame_alloc();
    packet = av_packet_alloc();
    set_mel();
    double seconds = atof(arguments[2]), start = 0, now = 0;
    long done = 0;
    for (int warm = 1; warm >= 0; warm--) {
        done = 0;
        start = cpu();
        do {
            int rate, samples = decode(paths[done % files], &rate);
            const float *one = sound;
            if (rate != RATE) {
                if (rate != kernel_rate) {
                    set_kernel(rate);
                }
                samples = resample(samples);
                one = at_rate;
            }
            if (samples < LENGTH) {
                memset((float *) one + samples, 0, (LENGTH - samples) * sizeof *one);
            }
            log_mel(one, batch[done % BATCH]);
            if (warm && done == 0 && count > 3) {
                FILE *out = fopen(arguments[3], "wb");
                must(out != NULL && fwrite(batch[0], sizeof batch[0], 1, out) == 1 && fclose(out) == 0, arguments[3]);
            }
            done++;
            now = cpu();
        } while (now - start < (warm ? seconds / 4 : seconds));
    }
    printf("{\"samples_per_cpu_second\": %.1f}\n", done / (now - start));
    return 0;
}
