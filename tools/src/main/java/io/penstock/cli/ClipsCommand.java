// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.image.ImageFit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.publish.AtomicFile;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.media.ClipDataset;
import io.penstock.media.ClipIndex;
import io.penstock.media.Clips;
import io.penstock.media.MediaDigest;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "clips",
        description = "Indexes and checks sound and video. Needs FFmpeg's libraries, 5.1 to 8.",
        subcommands = {ClipsCommand.Index.class, ClipsCommand.Show.class, ClipsCommand.Digest.class,
                ClipFilesCommand.Frames.class, ClipFilesCommand.Mel.class})
final class ClipsCommand implements Callable<Integer> {

    @Mixin
    @SuppressWarnings("UnusedVariable")
    private Report report;

    /** With a key every 30 frames, about 15 packets are decoded for one frame. */
    private static final double SPARSE = 30;

    @Override
    public Integer call() {
        throw new UsageException("missing command, expected index, show, digest, frames or mel");
    }

    /** A hint if frames need many packets before them. */
    private static Optional<String> hint(double decodedForOne) {
        return decodedForOne <= SPARSE ? Optional.empty() : Optional.of(String.format(Locale.ROOT,
                "SPARSE-KEYFRAMES: a frame takes %.1f decoded packets on average; encode again with -g 30",
                decodedForOne));
    }

    private static double rounded(double decodedForOne) {
        return Math.round(decodedForOne * 10) / 10.0;
    }

    /** The only column that may have sound or video, if no other is named. */
    static String column(String store, RecordStore records, @Nullable String named) {
        if (named != null) {
            return named;
        }
        List<String> files = records.columns().stream().filter(c -> ClipIndex.contents(c).isPresent())
                .map(Column::name).toList();
        if (files.size() != 1) {
            throw new BadInputException(store + ": found " + files + " that may be sound or video, expected one; "
                    + "--field names it");
        }
        return files.getFirst();
    }

    private static ClipIndex.Contents contents(RecordStore records, String column) {
        return records.columns().stream().filter(c -> c.name().equals(column)).findFirst()
                .flatMap(ClipIndex::contents).orElse(ClipIndex.Contents.VIDEO);
    }

    @Command(name = "index",
            description = "Finds the packets, the frames and the keys of all videos of each store, or the samples of"
                    + " its sound, once, so that clips are decoded exactly without opening a file again.",
            footer = {"", "The index of STORE goes to STORE.clips. A run that was stopped goes on where it was. A file"
                    + " that cannot be used gets an entry with the reason, and the exit status is 3. With --json it"
                    + " prints an array with one object per store."})
    static final class Index implements Callable<Integer> {

        private static final String SUFFIX = ".clips";

        @Mixin
        private Report report;

        @Parameters(arity = "1..*", paramLabel = "STORE",
                description = "Stores with video files: shards, folders of files, or s3://BUCKET/KEY.")
        private List<String> stores;

        @Option(names = "--field", paramLabel = "NAME",
                description = "The column with the files' bytes; default: the only one that has files.")
        private @Nullable String field;

        @Option(names = "--sound", description = "Index the sound of videos too.")
        private boolean sound;

        @Option(names = "--isolated",
                description = "Read files in processes of their own, for files that are not trusted: one that crashes"
                        + " its process, or takes a minute of CPU time, gets an entry with that reason.")
        private boolean isolated;

        @Option(names = {"-o", "--output"}, paramLabel = "FILE",
                description = "The index file, for one STORE.")
        private @Nullable Path output;

        @Option(names = "--force", description = "Replace an existing index.")
        private boolean force;

        @Mixin
        private StoreOptions options;

        @Override
        public Integer call() throws IOException {
            if (output != null && stores.size() > 1) {
                throw new UsageException("--output names one file, but there are " + stores.size() + " stores");
            }
            List<Map<String, @Nullable Object>> written = new ArrayList<>();
            long refused = 0;
            try (ProgressBar bar = report.progressBar("clips", "video")) {
                for (String name : stores) {
                    refused += index(name, bar, written);
                }
            }
            if (report.isJson()) {
                report.print(written);
            }
            return refused == 0 ? ExitCode.SUCCESS : ExitCode.BAD_INPUT;
        }

        private long index(String name, ProgressBar bar, List<Map<String, @Nullable Object>> written)
                throws IOException {
            Location place = options.locate(name);
            Path target = output != null ? output : Path.of(place.requireLocal("clips index").toString() + SUFFIX);
            if (Files.exists(target) && !force) {
                throw new BadInputException(target + " exists; --force replaces it");
            }
            try (Store store = options.open(place)) {
                if (!(store instanceof RecordStore records)) {
                    throw new BadInputException(name + ": found no records, expected videos");
                }
                String column = column(name, records, field);
                ClipIndex.Contents found = contents(records, column);
                ClipIndex.Contents contents = sound && found == ClipIndex.Contents.VIDEO
                        ? ClipIndex.Contents.VIDEO_AND_SOUND : found;
                var done = new AtomicLong();
                RecordFields samples = UsageException.valid(() -> RecordFields.of(records).and(column));
                try (ClipIndex index = ClipIndex.save(samples, column, contents, ClipIndex.MAX_PIXELS,
                        _ -> bar.update("clips " + place.name(), done.incrementAndGet(), records.size()), target,
                        isolated ? Duration.ofMinutes(1) : null)) {
                    return report(records, index, target, written);
                }
            }
        }

        private long report(RecordStore records, ClipIndex index, Path target,
                List<Map<String, @Nullable Object>> written) {
            List<Map<String, @Nullable Object>> bad = new ArrayList<>();
            long frames = 0;
            long samples = 0;
            double decoded = 0;
            for (long video = 0; video < index.size(); video++) {
                frames += index.frames(video);
                samples += index.soundSamples(video);
                decoded += index.frames(video) == 0 ? 0 : index.frames(video) * index.decodedForOne(video);
                String record = records.name(video);
                index.refusal(video).ifPresent(reason -> bad.add(Json.members("video", record, "reason", reason)));
            }
            boolean isSound = index.contents() == ClipIndex.Contents.SOUND;
            double average = frames == 0 ? 0 : decoded / frames;
            if (report.isJson()) {
                written.add(Json.members("index", target.toString(), "videos", index.size(), "frames", frames,
                        "sound_samples", samples, "decoded_for_one", rounded(average), "bad", bad));
            } else {
                bad.forEach(one -> report.print(one.get("video") + ": " + one.get("reason") + "\n"));
                report.print(target + ": " + NumberText.count(index.size(), isSound ? "file" : "video")
                        + ", " + NumberText.count(isSound ? samples : frames, isSound ? "sample" : "frame")
                        + (bad.isEmpty() ? "" : ", " + bad.size()
                        + " cannot be used") + "\n");
                hint(average).ifPresent(hint -> report.print(hint + "\n"));
            }
            return bad.size();
        }
    }

    @Command(name = "show",
            description = "Draws a clip from the middle of a file: its frames, and the waveform of its sound.",
            footer = {"", "Example: penstock clips show videos --sample 3 --html clip.html"})
    static final class Show implements Callable<Integer> {

        private static final int SIDE = 160;

        @Mixin
        private Report report;

        @Parameters(paramLabel = "STORE", description = "A store with sound or video: shards, or a folder of files.")
        private String name;

        @Option(names = "--sample", paramLabel = "N",
                description = "Record to show, from 0; default: ${DEFAULT-VALUE}.")
        private long sample;

        @Option(names = "--field", paramLabel = "NAME",
                description = "The column with the files' bytes; default: the only one that has files.")
        private @Nullable String field;

        @Option(names = "--frames", paramLabel = "N", description = "Frames of the clip; default: ${DEFAULT-VALUE}.")
        private int frames = 16;

        @Option(names = "--stride", paramLabel = "N",
                description = "Frames from one to the next; default: ${DEFAULT-VALUE}.")
        private int stride = 4;

        @Option(names = "--seconds", paramLabel = "S", description = "Seconds of sound; default: ${DEFAULT-VALUE}.")
        private double seconds = 2;

        @Option(names = "--html", paramLabel = "FILE", description = "The page to write.")
        private @Nullable Path html;

        @Mixin
        private StoreOptions options;

        @Override
        public Integer call() throws IOException {
            UsageException.requireAtLeast(0, "--sample", sample);
            UsageException.requireFile("--html", html);
            try (Store store = options.open(options.locate(name))) {
                if (!(store instanceof RecordStore records)) {
                    throw new BadInputException(name + ": found no records, expected sound or video");
                }
                if (sample >= records.size()) {
                    throw new BadInputException(name + ": found " + records.size() + " records, expected more than "
                            + sample);
                }
                String column = column(name, records, field);
                Dataset one = UsageException.valid(() -> RecordFields.of(records).and(column).select(sample));
                return show(one, column, contents(records, column), records.name(sample));
            }
        }

        private int show(Dataset one, String column, ClipIndex.Contents contents, String record) throws IOException {
            boolean isVideo = contents == ClipIndex.Contents.VIDEO;
            try (ClipIndex index = ClipIndex.of(one, column, isVideo ? ClipIndex.Contents.VIDEO_AND_SOUND : contents,
                    ClipIndex.MAX_PIXELS, _ -> { })) {
                boolean hasSound = index.soundSamples(0) > 0;
                boolean hasFrames = isVideo && index.frames(0) > 0;
                if (!hasSound && !hasFrames) {
                    throw new BadInputException(record + ": " + index.refusal(0).orElse("it has no clip"));
                }
                Clips clips = UsageException.valid(() -> {
                    Clips of = Clips.of(one, column).spaced(1).frames(frames).stride(stride)
                            .resize(ImageFit.shorterSide(SIDE, SIDE, SIDE));
                    return !hasFrames ? of.seconds(seconds) : hasSound ? of.withSound("sound", seconds) : of;
                });
                List<String> facts = new ArrayList<>();
                if (hasFrames) {
                    facts.add(NumberText.count(index.frames(0), "frame") + ", " + rounded(index.decodedForOne(0))
                            + " packets decoded for a frame on average");
                }
                if (hasSound) {
                    facts.add(NumberText.count(index.soundSamples(0), "sample") + " of sound");
                }
                hint(index.decodedForOne(0)).ifPresent(facts::add);
                draw(clips, hasFrames ? column : null, hasSound ? hasFrames ? "sound" : column : null, record, facts);
            }
            return ExitCode.SUCCESS;
        }

        private void draw(Clips of, @Nullable String frameField, @Nullable String soundField, String record,
                List<String> facts) throws IOException {
            try (ClipDataset clips = of.open();
                    DataLoader loader = DataLoader.builder(clips).batchSize(1).endEpoch(1).workers(1).open();
                    Batch batch = loader.next()) {
                if (frameField != null) {
                    facts.add(String.format(Locale.ROOT, "the clip: %d packets decoded for %d frames, %.1f for one",
                            clips.decodedPackets(), clips.usedFrames(),
                            (double) clips.decodedPackets() / clips.usedFrames()));
                }
                if (html != null) {
                    var page = new ClipPage(record, facts);
                    if (frameField != null) {
                        page.frames(batch.tensor(frameField), frames, SIDE);
                    }
                    if (soundField != null) {
                        page.waveform(batch.tensor(soundField));
                    }
                    AtomicFile.write(html, page.toString());
                }
            }
            report.print(record + "\n" + String.join("\n", facts) + "\n");
        }
    }

    @Command(name = "digest",
            description = "Decodes a file and prints as JSON what it has: of each frame the time stamp and the MD5 in"
                    + " its own pixel format; of the sound the rate, the channels, the count and the SHA-256 of the"
                    + " samples as f32. Other programs can check it.")
    static final class Digest implements Callable<Integer> {

        @Mixin
        private Report report;

        @Parameters(paramLabel = "FILE", description = "A sound or video file, also s3://BUCKET/KEY.")
        private String file;

        @Mixin
        private RemoteOptions remote;

        @Override
        public Integer call() throws IOException {
            Location place = remote.locate(file);
            try (MappedFile mapped = place.open()) {
                MediaDigest digest = mapped.reading(() -> MediaDigest.of(place, mapped.segment()));
                Map<String, @Nullable Object> all = Json.members("file", place.toString(), "ffmpeg", digest.ffmpeg());
                digest.video().ifPresent(video -> all.put("video", describe(video)));
                digest.sound().ifPresent(sound -> all.put("audio", describe(sound)));
                report.print((Object) all);
            }
            return ExitCode.SUCCESS;
        }

        private static Map<String, @Nullable Object> describe(MediaDigest.Video video) {
            return Json.members("codec", video.codec(), "width", video.width(), "height", video.height(), "pix_fmt",
                    video.pixelFormat(), "time_base", video.timeBase(), "rotation", video.rotation(), "packets",
                    video.packets(), "keyframe_pts", video.keyPts(), "discarded_packets", video.discarded(), "errors",
                    video.errors(), "frame_pts", video.framePts(), "frame_md5", video.frameMd5());
        }

        private static Map<String, @Nullable Object> describe(MediaDigest.Sound sound) {
            return Json.members("codec", sound.codec(), "rate", sound.rate(), "channels", sound.channels(), "frames",
                    sound.samples(), "errors", sound.errors(), "f32_sha256", sound.f32Sha256());
        }
    }
}
