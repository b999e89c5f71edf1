// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.penstock.collate.StackAndPad;
import io.penstock.convert.Conversion;
import io.penstock.convert.ConversionSummary;
import io.penstock.convert.MappedConversion;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.image.ImageFit;
import io.penstock.image.reading.JpegEncoder;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.media.ClipDataset;
import io.penstock.media.Clips;
import io.penstock.media.SoundDecoder;
import io.penstock.media.sound.FixedLength;
import io.penstock.media.sound.LogMel;
import io.penstock.media.sound.SoundSteps;
import io.penstock.memory.Tensor;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What makes files of clips once, so that training need not decode: frames of videos, spectrograms of sound. */
abstract sealed class ClipFilesCommand implements Callable<Integer> {

    @Mixin
    Report report;

    @Parameters(index = "0", paramLabel = "STORE", description = "A store with sound or video: shards, or a folder.")
    String name;

    @Parameters(index = "1", paramLabel = "FOLDER",
            description = "Folder of the tars to write. A run that was stopped goes on where it was.")
    Path folder;

    @Option(names = "--field", paramLabel = "NAME",
            description = "The column with the files' bytes; default: the only one that has files.")
    @Nullable String field;

    @Option(names = "--keep", paramLabel = "NAME", split = ",",
            description = "Other columns whose files go with each sample, such as txt.")
    List<String> kept = List.of();

    @Option(names = "--samples", paramLabel = "N", description = "Samples of a tar; default: ${DEFAULT-VALUE}.")
    long samplesOfTar = 1024;

    @Option(names = "--skip-bad", description = "Leave out files that cannot be decoded. Default: stop at the first.")
    boolean skipBad;

    @Mixin
    StoreOptions options;

    /** Decodes the column of files. */
    abstract ConversionSummary convert(RecordFields others, RecordStore records, String column, ProgressBar bar)
            throws IOException, InterruptedException;

    @Override
    public Integer call() throws IOException, InterruptedException {
        UsageException.requireAtLeast(1, "--samples", samplesOfTar);
        try (Store store = options.open(options.locate(name))) {
            if (!(store instanceof RecordStore records)) {
                throw new BadInputException(name + ": found no records, expected sound or video");
            }
            String column = ClipsCommand.column(name, records, field);
            RecordFields others = UsageException.valid("--keep: ", () -> {
                RecordFields all = RecordFields.of(records);
                for (String one : kept) {
                    all = all.and(one);
                }
                return all;
            });
            ConversionSummary summary;
            try (ProgressBar bar = report.progressBar("clips", "sample")) {
                summary = convert(others, records, column, bar);
            }
            if (report.isJson()) {
                report.print(Json.members("target", folder.toString(), "samples", summary.records(), "files",
                        summary.files().stream().map(Path::toString).toList(), "bytes", summary.bytes(), "seconds",
                        summary.nanos() / 1e9));
            } else {
                report.print(String.format(Locale.ROOT, "%s: %s in %s, %s%n", folder,
                        NumberText.count(summary.records(), "sample"),
                        NumberText.count(summary.files().size(), "new file"), NumberText.of(summary.bytes(), "B")));
            }
        }
        return ExitCode.SUCCESS;
    }

    ConversionSummary run(Dataset samples, String version, int batch, ProgressBar bar,
            MappedConversion.BatchCode code) throws IOException, InterruptedException {
        MappedConversion conversion = Conversion.map(samples, folder, (rows, out) -> {
            code.run(rows, out);
            keep(rows, out);
        }).batchSize((int) Math.min(batch, samplesOfTar)).shardsOf(samplesOfTar).version(version)
                .collator(StackAndPad.fields())
                .progress((done, total) -> bar.update("clips " + folder.getFileName(), done, total));
        return (skipBad ? conversion.skipBad() : conversion).run();
    }

    private void keep(Batch batch, MappedConversion.SampleFiles out) {
        for (String one : kept) {
            MemorySegment lengths = batch.tensor(one + "_lengths").segment();
            for (int row = 0; row < batch.count(); row++) {
                int bytes = lengths.get(JAVA_INT_UNALIGNED, (long) Integer.BYTES * row);
                out.file(row, one, batch.tensor(one).row(row).segment().asSlice(0, bytes));
            }
        }
    }

    @Command(name = "frames",
            description = "Decodes clips of all videos and writes their frames to tars: as JPEG files, or as an array"
                    + " of bytes, the planes of one frame after the other.",
            footer = {"", "Example: penstock clips frames videos frames --clips 4 --keep json"})
    static final class Frames extends ClipFilesCommand {

        @Option(names = "--count", paramLabel = "T", description = "Frames of a clip; default: ${DEFAULT-VALUE}.")
        private int count = 16;

        @Option(names = "--stride", paramLabel = "N",
                description = "Frames from one to the next; default: ${DEFAULT-VALUE}.")
        private int stride = 1;

        @Option(names = "--clips", paramLabel = "N",
                description = "Clips of a video, evenly spaced; default: all, one behind the other.")
        private @Nullable Integer clips;

        @Option(names = "--size", paramLabel = "HxW",
                description = "Resize the shorter side, then crop the center; default: ${DEFAULT-VALUE}.")
        private String size = "224x224";

        @Option(names = "--as", paramLabel = "FORM",
                description = "jpg: a file a frame, 000.jpg and so on; npy: an array a clip; default:"
                        + " ${DEFAULT-VALUE}.")
        private String form = "jpg";

        @Option(names = "--quality", paramLabel = "Q",
                description = "Quality of JPEG, 1 to 100; default: ${DEFAULT-VALUE}.")
        private int quality = 95;

        @Option(names = "--index", paramLabel = "FILE", description = "The index; default: it is made, and not kept.")
        private @Nullable Path index;

        @Override
        ConversionSummary convert(RecordFields others, RecordStore records, String column, ProgressBar bar)
                throws IOException, InterruptedException {
            boolean isJpeg = form.equals("jpg");
            if (!isJpeg && !form.equals("npy")) {
                throw new UsageException("--as: found '" + form + "', expected jpg or npy");
            }
            if (quality < 1 || quality > 100) {
                throw new UsageException("--quality: found " + quality + ", expected 1 to 100");
            }
            Clips of = UsageException.valid(() -> {
                ImageFit fit = DecoderText.fit(size);
                Clips all = Clips.of(others.and(column), column).frames(count).stride(stride).resize(fit);
                Clips chosen = clips == null ? all.windows(count * stride) : all.spaced(clips);
                return index == null ? chosen : chosen.index(index);
            });
            String version = isJpeg ? "frames jpg " + quality : "frames npy";
            try (ClipDataset samples = of.open(); JpegEncoder jpeg = isJpeg ? encoder(quality) : null) {
                return run(samples, version, 8, bar, (batch, out) -> {
                    if (jpeg == null) {
                        out.arrays(column, batch.tensor(column));
                        return;
                    }
                    for (int row = 0; row < batch.count(); row++) {
                        Tensor clip = batch.tensor(column).row(row);
                        for (int t = 0; t < count; t++) {
                            Tensor frame = clip.row(t);
                            out.file(row, String.format(Locale.ROOT, "%03d.jpg", t), MemorySegment.ofArray(
                                    jpeg.encode(frame.segment(), (int) frame.dim(1), (int) frame.dim(2))));
                        }
                    }
                });
            }
        }
    }

    private static JpegEncoder encoder(int quality) {
        try {
            return new JpegEncoder(quality);
        } catch (LinkageError e) {
            throw new UsageException("--as jpg needs the module java.desktop, which this JDK lacks; npy does not");
        }
    }

    @Command(name = "mel",
            description = "Decodes all sound, resamples it to 16 kHz and writes Whisper's logarithmic mel spectrograms"
                    + " to tars: an array f32 of bands by frames each, 100 frames a second.",
            footer = {"", "Example: penstock clips mel speech mel --bands 128 --keep txt"})
    static final class Mel extends ClipFilesCommand {

        private static final int RATE = 16_000;

        @Option(names = "--bands", paramLabel = "N", description = "80 or 128; default: ${DEFAULT-VALUE}.")
        private int bands = 80;

        @Option(names = "--seconds", paramLabel = "S",
                description = "Length to which sound is padded or cut; default: ${DEFAULT-VALUE}.")
        private double seconds = 30;

        @Override
        ConversionSummary convert(RecordFields others, RecordStore records, String column, ProgressBar bar)
                throws IOException, InterruptedException {
            Dataset samples = UsageException.valid(() -> SoundSteps.of(
                    FixedLength.of(Math.toIntExact(Math.round(seconds * RATE))), LogMel.whisper(bands))
                    .map(others.and(column, SoundDecoder.mono(RATE).resampled()), column));
            return run(samples, "mel", 16, bar, (batch, out) -> out.arrays(column, batch.tensor(column)));
        }
    }
}
