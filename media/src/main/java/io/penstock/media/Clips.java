// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.error.CodecException;
import io.penstock.image.ImageFit;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.FFmpeg;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Clips of videos as samples: frames of one size in RGB, exactly those that decoding from the start gives. Immutable.
 *
 * {@snippet :
 * ClipDataset clips = Clips.of(shards, "mp4").frames(16).stride(4)
 *         .resize(ImageFit.shorterSide(256, 224, 224)).index(Path.of("shards.clips")).open();
 * }
 *
 * <p>A clip is {@code u8[T, 3, height, width]}, in place of the bytes of the file. Videos are MP4, MOV, Matroska and
 * WebM with H.264, H.265, VP8, VP9, AV1 or MPEG-4, decoded by FFmpeg's libraries 5.1 to 8, which must be installed.
 * Frame k is the k-th by time of those that the file's edit list shows; the conversion to RGB is Penstock's own, the
 * same for every version of FFmpeg.
 *
 * <p>A clip that cannot be decoded exactly, because its file is damaged, is a bad sample with the reason; the loader's
 * policy says what becomes of it.
 */
public final class Clips {

    private static final int MAX_CLIP_PACKETS = 10_000;
    private static final long MAX_CLIP_BYTES = 1L << 40;
    private static final int MAX_SECONDS = 36_000;

    private final Dataset samples;
    private final String field;
    private ClipTimes times = new ClipTimes(16, 1, 0, TooShort.PAD);
    private ClipPlan.Choice choice = ClipPlan.Choice.RANDOM;
    private int number = 1;
    private ImageFit fit = ImageFit.shorterSide(256, 224, 224);
    private boolean isChannelsFirst;
    private boolean isUpright;
    private long maxPixels = DecoderLimits.DEFAULT.maxPixels();
    private int maxClipPackets = MAX_CLIP_PACKETS;
    private @Nullable Path index;
    /** The CPU time of a sample in a process of its own; null to decode in this one. */
    private @Nullable Duration isolation;
    /** The length of sound; 0 for none. */
    private double seconds;
    /** The field of the sound of videos; null for clips of sound alone. */
    private @Nullable String soundField;

    private Clips(Dataset samples, String field) {
        this.samples = samples;
        this.field = field;
    }

    private Clips(Clips of) {
        this(of.samples, of.field);
        times = of.times;
        choice = of.choice;
        number = of.number;
        fit = of.fit;
        isChannelsFirst = of.isChannelsFirst;
        isUpright = of.isUpright;
        maxPixels = of.maxPixels;
        maxClipPackets = of.maxClipPackets;
        index = of.index;
        isolation = of.isolation;
        seconds = of.seconds;
        soundField = of.soundField;
    }

    /**
     * Clips of 16 frames in a row, one random clip of each video in an epoch, 224 by 224 pixels.
     *
     * @param records the store; must stay open
     * @param column the column that has the bytes of video files, or of sound
     * @return the clips
     * @throws IllegalArgumentException if the column does not exist or has no files
     */
    public static Clips of(RecordStore records, String column) {
        return of(RecordFields.of(records).and(column), column);
    }

    /**
     * Clips of the videos of a dataset, whose other fields each clip has too.
     *
     * @param samples the dataset, such as {@link RecordFields} with {@code mp4} and {@code json}
     * @param field the field that has the bytes of video files, or of sound, as they are stored
     * @return the clips
     * @throws IllegalArgumentException if the field does not exist or has no files
     */
    public static Clips of(Dataset samples, String field) {
        ClipIndex.files(samples, field);
        return new Clips(samples, field);
    }

    /**
     * {@return clips of another number of frames}
     *
     * @param count 1 or more
     */
    public Clips frames(int count) {
        return with(new ClipTimes(positive(count, "frames"), times.stride(), times.fps(), times.tooShort()));
    }

    /**
     * {@return clips of each so-many-th frame}
     *
     * @param step the frames from one to the next, 1 for all
     */
    public Clips stride(int step) {
        return with(new ClipTimes(times.frames(), positive(step, "a stride"), 0, times.tooShort()));
    }

    /**
     * {@return clips of the frames that are shown at so many times a second} Frame j is the last that is shown not
     * later than j / {@code perSecond} seconds after the first: a slow video gives a frame twice.
     *
     * @param perSecond frames a second
     */
    public Clips fps(int perSecond) {
        return with(new ClipTimes(times.frames(), 0, positive(perSecond, "frames a second"), times.tooShort()));
    }

    /**
     * {@return clips of sound instead of frames: {@code f32[channels, n]}, values from -1 to 1} Channels and samples a
     * second are those of the first file that can be used; a file that has others is a bad sample. {@link #windows}
     * then counts samples.
     *
     * @param length seconds of a clip; n is this times the samples a second, rounded
     */
    public Clips seconds(double length) {
        return sound(null, length);
    }

    /**
     * {@return clips with the sound of their video as another field: {@code f32[channels, n]}} It begins when the
     * clip's first frame is shown, to the nearest sample; where the file has no sound, it is silence.
     *
     * @param name the name of the field
     * @param length seconds of sound
     */
    public Clips withSound(String name, double length) {
        return sound(Objects.requireNonNull(name, "name"), length);
    }

    private Clips sound(@Nullable String name, double length) {
        if (!(length > 0 && length <= MAX_SECONDS)) {
            throw new IllegalArgumentException("found " + length + " seconds, expected more than 0, at most "
                    + MAX_SECONDS);
        }
        Clips clips = new Clips(this);
        clips.seconds = length;
        clips.soundField = name;
        return clips;
    }

    /**
     * {@return clips that treat short videos in another way; the default repeats their last frame, and
     * adds silence to sound}
     *
     * @param policy what becomes of a video that is shorter than a clip
     */
    public Clips tooShort(TooShort policy) {
        return with(new ClipTimes(times.frames(), times.stride(), times.fps(), Objects.requireNonNull(policy)));
    }

    private Clips with(ClipTimes changed) {
        Clips clips = new Clips(this);
        clips.times = changed;
        return clips;
    }

    /** {@return one clip of each video, drawn anew for each position of an epoch's order: the default} */
    public Clips random() {
        return choose(ClipPlan.Choice.RANDOM, 1);
    }

    /**
     * {@return clips evenly spaced over each video, for evaluation: the first begins with it, the last ends with it}
     *
     * @param count the clips of a video; one lies in the middle
     */
    public Clips spaced(int count) {
        return choose(ClipPlan.Choice.SPACED, positive(count, "clips of a video"));
    }

    /**
     * {@return all clips of each file that begin so many frames, or samples of sound, apart}
     *
     * @param step the frames or samples from one beginning to the next
     */
    public Clips windows(int step) {
        return choose(ClipPlan.Choice.WINDOWS, positive(step, "frames from a window to the next"));
    }

    private Clips choose(ClipPlan.Choice how, int count) {
        Clips clips = new Clips(this);
        clips.choice = how;
        clips.number = count;
        return clips;
    }

    /**
     * {@return clips of another size}
     *
     * @param size how frames are brought to one size
     */
    public Clips resize(ImageFit size) {
        Clips clips = new Clips(this);
        clips.fit = Objects.requireNonNull(size, "size");
        return clips;
    }

    /** {@return clips as {@code u8[3, T, height, width]}} */
    public Clips channelsFirst() {
        Clips clips = new Clips(this);
        clips.isChannelsFirst = true;
        return clips;
    }

    /** {@return clips whose frames are turned as the file says; by default they are as stored} */
    public Clips upright() {
        Clips clips = new Clips(this);
        clips.isUpright = true;
        return clips;
    }

    /**
     * {@return clips with another limit of what a file may ask for}
     *
     * @param pixels width times height of the largest frame; the default is 8192 by 4096
     * @param packets the most packets that are decoded for a clip; the default is 10,000
     */
    public Clips limits(long pixels, int packets) {
        Clips clips = new Clips(this);
        clips.maxPixels = positive(Math.toIntExact(pixels), "pixels");
        clips.maxClipPackets = positive(packets, "packets");
        return clips;
    }

    /**
     * {@return clips whose index is kept in a file: read if the file exists, else made and written}
     *
     * @param file the file
     */
    public Clips index(Path file) {
        Clips clips = new Clips(this);
        clips.index = Objects.requireNonNull(file, "file");
        return clips;
    }

    /** {@return clips that processes of their own decode, each with a minute of CPU time; see the other method} */
    public Clips isolated() {
        return isolated(IsolatedDecoder.USUAL_CPU);
    }

    /**
     * {@return clips that processes of their own decode, one for each field and worker: for files that you do not
     * trust} Where a file crashes a decoder, its sample is bad with that reason, and a new process decodes the next;
     * without, it ends this process. FLAC, which needs no library, is decoded in this process. The clips are the same.
     * An index that is made here is made in such processes too.
     *
     * @param cpu the CPU time that a clip may take before its process is ended; for an index, so much for each file,
     *     and a second more for each MiB
     */
    public Clips isolated(Duration cpu) {
        if (!cpu.isPositive()) {
            throw new IllegalArgumentException("found " + cpu + " of CPU time, expected more than 0");
        }
        Clips clips = new Clips(this);
        clips.isolation = cpu;
        return clips;
    }

    private static int positive(int value, String what) {
        if (value < 1) {
            throw new IllegalArgumentException("found " + value + " for " + what + ", expected 1 or more");
        }
        return value;
    }

    /**
     * Opens the clips, with their index.
     *
     * @return the samples, to be closed by the caller when nobody reads them
     * @throws io.penstock.error.LibraryException if FFmpeg is not installed; says what to install
     * @throws IOException if FFmpeg cannot be used, or the index cannot be read, written, or is that of other videos
     */
    public ClipDataset open() throws IOException {
        FFmpeg.require();
        int of = samples.indexOf(field);
        long clipBytes = Math.multiplyExact(3L * times.frames(), (long) fit.height() * fit.width());
        if (clipBytes > MAX_CLIP_BYTES) {
            throw new IllegalArgumentException("a clip of " + clipBytes + " bytes, expected at most " + MAX_CLIP_BYTES);
        }
        ClipIndex files = openIndex();
        try {
            return seconds > 0 && soundField == null ? openSound(files, of) : openVideos(files, of);
        } catch (Throwable t) {
            files.close();
            throw t;
        }
    }

    private ClipDataset openVideos(ClipIndex files, int of) throws IOException {
        var table = new PacketTable();
        ClipPlan plan = ClipPlan.of(choice, number, files.size(), video -> {
            table.load(files.bytes(), files.offset(video), files.byteSize(video));
            return times.starts(table);
        });
        var map = new ClipMap(files, plan, times, fit, isChannelsFirst, isUpright,
                new DecoderLimits(maxPixels, DecoderLimits.DEFAULT.maxPackets()), maxClipPackets, new LongAdder(),
                new LongAdder(), isolation);
        TensorSpec spec = isChannelsFirst
                ? new TensorSpec(field, DType.U8, 3, times.frames(), fit.height(), fit.width())
                : new TensorSpec(field, DType.U8, times.frames(), 3, fit.height(), fit.width());
        if (soundField == null) {
            return new ClipDataset(samples, of, List.of(spec), List.of(map), files, plan, map.decoded(), map.used(),
                    this.toString());
        }
        SoundMap sound = sound(files, plan, times, new LongAdder(), new LongAdder());
        return new ClipDataset(samples, of, List.of(spec, spec(soundField, sound)), List.of(map, sound), files, plan,
                map.decoded(), map.used(), this.toString());
    }

    private ClipDataset openSound(ClipIndex files, int of) throws IOException {
        SoundMap first = sound(files, ClipPlan.of(ClipPlan.Choice.RANDOM, 1, files.size(), _ -> 1), null,
                new LongAdder(), new LongAdder());
        var table = new SoundTable();
        ClipPlan plan = ClipPlan.of(choice, number, files.size(), file -> {
            table.load(files.bytes(), files.soundOffset(file), files.soundByteSize(file));
            return SoundMap.starts(table, first.samples());
        });
        SoundMap map = new SoundMap(files, plan, null, first.rate(), first.channels(), first.samples(),
                times.tooShort(), maxClipPackets, first.decoded(), first.used(), isolation);
        return new ClipDataset(samples, of, List.of(spec(field, map)), List.of(map), files, plan, map.decoded(),
                map.used(), this.toString());
    }

    private static TensorSpec spec(String name, SoundMap sound) {
        return new TensorSpec(name, DType.F32, sound.channels(), sound.samples());
    }

    /** The sound of clips, of the rate and the channels that the first file has. */
    private SoundMap sound(ClipIndex files, ClipPlan plan, @Nullable ClipTimes frames, LongAdder decoded,
            LongAdder used) throws IOException {
        var table = new SoundTable();
        String reason = "there are no files";
        for (long file = 0; file < files.size(); file++) {
            try {
                table.load(files.bytes(), files.soundOffset(file), files.soundByteSize(file));
                long count = Math.max(1, Math.round(seconds * table.rate));
                if (count * table.channels * Float.BYTES > Integer.MAX_VALUE) {
                    throw new IllegalArgumentException("a clip of " + count + " samples of " + table.channels
                            + " channels, expected at most 2 GiB");
                }
                return new SoundMap(files, plan, frames, table.rate, table.channels, (int) count, times.tooShort(),
                        maxClipPackets, decoded, used, isolation);
            } catch (CodecException e) {
                reason = String.valueOf(e.getMessage());
            }
        }
        throw new IOException("no file of '" + field + "' has sound that can be used; of the last: " + reason);
    }

    private ClipIndex.Contents contents() {
        return seconds == 0 ? ClipIndex.Contents.VIDEO
                : soundField == null ? ClipIndex.Contents.SOUND : ClipIndex.Contents.VIDEO_AND_SOUND;
    }

    private ClipIndex openIndex() throws IOException {
        if (index == null || !Files.exists(index)) {
            return index == null ? ClipIndex.of(samples, field, contents(), maxPixels, _ -> { }, isolation)
                    : ClipIndex.save(samples, field, contents(), maxPixels, _ -> { }, index, isolation);
        }
        ClipIndex opened = ClipIndex.open(index);
        if (opened.size() != samples.size()) {
            opened.close();
            throw new IOException(index + ": found the index of " + opened.size() + " files, expected "
                    + samples.size() + ", those of '" + field + "' (remove it, and it is made anew)");
        }
        if (opened.contents() != contents()) {
            opened.close();
            throw new IOException(index + ": found an index of " + opened.contents() + ", expected " + contents()
                    + " (remove it, and it is made anew)");
        }
        return opened;
    }

    /** For example {@code 16 frames at stride 4, one random clip, stretched to 224x224}. */
    @Override
    public String toString() {
        String what = seconds == 0 ? times.toString() : soundField == null ? seconds + " seconds of sound"
                : times + " with " + seconds + " seconds of sound";
        return what + (times.tooShort() == TooShort.PAD ? "" : " (" + times.tooShort() + ")") + ", "
                + switch (choice) {
                    case RANDOM -> "one random clip";
                    case SPACED -> number + " spaced clips";
                    case WINDOWS -> "windows every " + number;
                } + (seconds > 0 && soundField == null ? "" : ", " + fit + (isChannelsFirst ? ", channels first" : "")
                + (isUpright ? ", upright" : ""));
    }
}
