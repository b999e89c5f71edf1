// SPDX-License-Identifier: Apache-2.0
// The limit of one thread for clips: files in memory, decoded by FFmpeg's libraries, with nothing around it. Prints a
// JSON line.
//
//     gcc -O3 -march=native clips.c -o clips -lavformat -lavcodec -lswscale -lavutil
//     clips --store FOLDER --work frames|apart|together|sound [--way open|direct|skip] [--scale full|fast] [--seconds 2]
//
// frames: 16 frames at stride 4, 8 clips a file evenly spaced; apart: 16 frames in a row, every 16 frames; together:
// the same, 8 clips decoded at once; sound: 5 seconds as planar f32, 8 a file. Clips go to the places of a batch of 8.
// Frames become 224x224 by swscale's bilinear filter, to packed RGB. full: chroma in the full width, rounded to nearest, as
// Penstock converts; fast: swscale's default, half of the chroma and truncated.
// open: opens the file for each clip, seeks and decodes; direct: feeds packets of a table, made before, to a decoder that
// stays open; skip: the same without frames that no other needs.
#include <getopt.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
#include <libswscale/swscale.h>

enum { SIDE = 224, BATCH = 8, MOST_FILES = 64, MOST_FRAMES = 256 };

struct file {
    char path[4096];
    AVCodecParameters *parameters;
    AVRational base;
    int count;
    AVPacket **packets;     // in decoding order
    int64_t *shown;         // time stamps in order of time
    AVCodecContext *decoder;
};

struct clip { int file, first, step, frames; int64_t samples; };

static struct file files[MOST_FILES];
static int file_count;
static AVFrame *frame;
static struct SwsContext *scaler;
static uint8_t *out;
static long decoded;
static int scaling = SWS_BILINEAR | SWS_FULL_CHR_H_INT | SWS_ACCURATE_RND;
static int row;             // of the batch: where the next clip goes

static void must(int ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static int by_time(const void *a, const void *b) {
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

static AVFormatContext *demuxer(const char *path) {
    AVFormatContext *format = NULL;
    must(avformat_open_input(&format, path, NULL, NULL) >= 0, path);
    must(avformat_find_stream_info(format, NULL) >= 0, path);
    return format;
}

static AVCodecContext *decoder(AVCodecParameters *parameters) {
    AVCodecContext *made = avcodec_alloc_context3(NULL);
    must(avcodec_parameters_to_context(made, parameters) >= 0, "avcodec_parameters_to_context");
    made->thread_count = 1;
    must(avcodec_open2(made, avcodec_find_decoder(parameters->codec_id), NULL) >= 0, "avcodec_open2");
    return made;
}

static int stream_of(AVFormatContext *format, int is_sound) {
    return av_find_best_stream(format, is_sound ? AVMEDIA_TYPE_AUDIO : AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
}

static void load(struct file *file, int is_sound) {
    AVFormatContext *format = demuxer(file->path);
    int stream = stream_of(format, is_sound);
    must(stream >= 0, file->path);
    file->parameters = avcodec_parameters_alloc();
    avcodec_parameters_copy(file->parameters, format->streams[stream]->codecpar);
    file->base = format->streams[stream]->time_base;
    file->decoder = decoder(file->parameters);
    int room = 0;
    AVPacket *packet = av_packet_alloc();
    while (av_read_frame(format, packet) >= 0) {
        if (packet->stream_index == stream) {
            if (file->count == room) {
                room = room ? 2 * room : 1024;
                file->packets = realloc(file->packets, room * sizeof *file->packets);
                file->shown = realloc(file->shown, room * sizeof *file->shown);
            }
            file->shown[file->count] = packet->pts;
            file->packets[file->count++] = av_packet_clone(packet);
        }
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    avformat_close_input(&format);
    qsort(file->shown, file->count, sizeof *file->shown, by_time);
}

static const int64_t *find(int64_t pts, const int64_t *times, int count) {
    return bsearch(&pts, times, count, sizeof *times, by_time);
}

static int wanted(int64_t pts, const int64_t *times, int count) {
    return find(pts, times, count) != NULL;
}

// Takes the frames that the decoder has; returns how many of them were wanted.
static int take(AVCodecContext *open, const int64_t *times, int count) {
    int taken = 0;
    while (avcodec_receive_frame(open, frame) >= 0) {
        const int64_t *place = find(frame->pts, times, count);
        if (place != NULL) {
            scaler = sws_getCachedContext(scaler, frame->width, frame->height, frame->format, SIDE, SIDE,
                    AV_PIX_FMT_RGB24, scaling, NULL, NULL, NULL);
            size_t number = (size_t) row * 16 + (place - times);
            uint8_t *to[4] = {out + number * SIDE * SIDE * 3};
            int line[4] = {3 * SIDE};
            sws_scale(scaler, (const uint8_t *const *) frame->data, frame->linesize, 0, frame->height, to, line);
            taken++;
        }
    }
    return taken;
}

static void by_packets(struct file *file, const int64_t *times, int count, int is_skipping) {
    int first = 0, last = 0, left = count;
    for (int i = 0; i < file->count; i++) {
        if (file->packets[i]->pts == times[0]) {
            for (first = i; first > 0; first--) {
                if (file->packets[first]->flags & AV_PKT_FLAG_KEY && file->packets[first]->pts <= times[0]) {
                    break;
                }
            }
        }
        last = wanted(file->packets[i]->pts, times, count) ? i : last;
    }
    for (int i = first; i <= last && left > 0; i++) {
        file->decoder->skip_frame = is_skipping && !wanted(file->packets[i]->pts, times, count)
                ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
        must(avcodec_send_packet(file->decoder, file->packets[i]) >= 0, "avcodec_send_packet");
        decoded++;
        left -= take(file->decoder, times, count);
    }
    avcodec_send_packet(file->decoder, NULL);
    left -= take(file->decoder, times, count);
    avcodec_flush_buffers(file->decoder);
    must(left == 0, "frames are missing");
}

static void by_seeking(struct file *file, const int64_t *times, int count) {
    AVFormatContext *format = demuxer(file->path);
    int stream = stream_of(format, 0);
    AVCodecContext *open = decoder(format->streams[stream]->codecpar);
    must(av_seek_frame(format, stream, times[0], AVSEEK_FLAG_BACKWARD) >= 0, "av_seek_frame");
    AVPacket *packet = av_packet_alloc();
    int left = count;
    while (left > 0 && av_read_frame(format, packet) >= 0) {
        if (packet->stream_index == stream) {
            must(avcodec_send_packet(open, packet) >= 0, "avcodec_send_packet");
            decoded++;
            left -= take(open, times, count);
        }
        av_packet_unref(packet);
    }
    if (left > 0) {
        avcodec_send_packet(open, NULL);
        left -= take(open, times, count);
    }
    must(left == 0, "frames are missing");
    av_packet_free(&packet);
    avcodec_free_context(&open);
    avformat_close_input(&format);
}

static void sound(struct file *file, int64_t first, int64_t count) {
    int channels = file->parameters->ch_layout.nb_channels, rate = file->parameters->sample_rate;
    float *to = (float *) out + (size_t) row * channels * count;
    for (int i = 0; i < file->count; i++) {
        AVPacket *packet = file->packets[i];
        int64_t at = av_rescale_q(packet->pts, file->base, (AVRational) {1, rate});
        int64_t behind = at + av_rescale_q(packet->duration, file->base, (AVRational) {1, rate});
        if (behind <= first || at >= first + count) {
            continue;
        }
        must(avcodec_send_packet(file->decoder, packet) >= 0, "avcodec_send_packet");
        decoded++;
        while (avcodec_receive_frame(file->decoder, frame) >= 0) {
            int64_t low = at < first ? first - at : 0;
            int64_t high = at + frame->nb_samples > first + count ? first + count - at : frame->nb_samples;
            int is_short = frame->format == AV_SAMPLE_FMT_S16;
            must(is_short || frame->format == AV_SAMPLE_FMT_S32, "expected samples of 16 or 32 bits");
            const int16_t *narrow = (const int16_t *) frame->extended_data[0];
            const int32_t *wide = (const int32_t *) frame->extended_data[0];
            for (int c = 0; c < channels; c++) {
                for (int64_t s = low; s < high; s++) {
                    to[c * count + at + s - first] = is_short ? narrow[s * channels + c] * (1.0f / 32768)
                            : wide[s * channels + c] * (1.0f / 2147483648);
                }
            }
        }
    }
    avcodec_flush_buffers(file->decoder);
}

static void decode(const struct clip *clips, int count, const char *way) {
    struct file *file = &files[clips[0].file];
    if (clips[0].samples > 0) {
        for (int i = 0; i < count; i++) {
            sound(&files[clips[i].file], clips[i].first, clips[i].samples);
        }
        return;
    }
    int64_t times[MOST_FRAMES];
    int all = 0;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < clips[i].frames; j++) {
            times[all++] = file->shown[clips[i].first + j * clips[i].step];
        }
    }
    if (strcmp(way, "open") == 0) {
        by_seeking(file, times, all);
    } else {
        by_packets(file, times, all, strcmp(way, "skip") == 0);
    }
}

static double cpu(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

int main(int count, char **arguments) {
    const char *store = NULL, *work = "frames", *way = "skip";
    double seconds = 2;
    static const struct option options[] = {{"store", 1, 0, 's'}, {"work", 1, 0, 'w'}, {"way", 1, 0, 'y'},
        {"scale", 1, 0, 'c'}, {"seconds", 1, 0, 't'}, {0}};
    for (int option; (option = getopt_long(count, arguments, "", options, NULL)) != -1;) {
        switch (option) {
            case 's': store = optarg; break;
            case 'w': work = optarg; break;
            case 'y': way = optarg; break;
            case 'c': scaling = strcmp(optarg, "fast") == 0 ? SWS_BILINEAR : scaling; break;
            case 't': seconds = atof(optarg); break;
            default: return 2;
        }
    }
    must(store != NULL, "--store FOLDER is missing");
    av_log_set_level(AV_LOG_QUIET);
    int is_sound = strcmp(work, "sound") == 0, is_together = strcmp(work, "together") == 0;
    struct dirent **names;
    int found = scandir(store, &names, NULL, alphasort);
    must(found > 0, store);
    for (int i = 0; i < found; i++) {
        if (names[i]->d_name[0] != '.' && file_count < MOST_FILES) {
            snprintf(files[file_count].path, sizeof files[0].path, "%s/%s", store, names[i]->d_name);
            load(&files[file_count++], is_sound);
        }
    }
    must(file_count > 0, "no files");
    frame = av_frame_alloc();
    out = malloc((size_t) MOST_FRAMES * SIDE * SIDE * 3 + 64);
    struct clip *clips = malloc(1000000 * sizeof *clips);
    int clip_count = 0;
    for (int f = 0; f < file_count; f++) {
        int64_t rate = files[f].parameters->sample_rate;
        int64_t length = is_sound ? av_rescale_q(files[f].packets[files[f].count - 1]->pts
                + files[f].packets[files[f].count - 1]->duration, files[f].base, (AVRational) {1, rate})
                : files[f].count;
        if (is_sound || strcmp(work, "frames") == 0) {
            int64_t last = length - (is_sound ? 5 * rate : 61);
            for (int i = 0; i < BATCH; i++) {
                clips[clip_count++] = (struct clip) {f, i * last / (BATCH - 1), 4, 16, is_sound ? 5 * rate : 0};
            }
        } else {
            for (int first = 0; first + 16 <= length; first += 16) {
                clips[clip_count++] = (struct clip) {f, first, 1, 16, 0};
            }
        }
    }
    long done = 0;
    double start = 0, now;
    for (int warm = 1; warm >= 0; warm--) {
        done = decoded = 0;
        start = cpu();
        long next = 0;
        do {
            long at = next % clip_count;
            int several = 1;
            while (is_together && several < BATCH && at + several < clip_count
                    && clips[at + several].file == clips[at].file) {
                several++;
            }
            row = is_together ? 0 : next % BATCH;
            decode(clips + at, several, way);
            next += several;
            done += several;
            now = cpu();
        } while (now - start < (warm ? seconds / 4 : seconds));
    }
    printf("{\"work\": \"%s\", \"way\": \"%s\", \"clips_per_cpu_second\": %.1f, \"decoded_for_one\": %.1f}\n", work, way,
            done / (now - start), is_sound ? 0 : decoded / (16.0 * done));
    return 0;
}
