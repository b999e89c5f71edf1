// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.augment.Augment;
import io.penstock.augment.AugmentText;
import io.penstock.collate.StackAndPad;
import io.penstock.dataset.Dataset;
import io.penstock.image.PixelFormat;
import io.penstock.image.StepForm;
import io.penstock.image.StepParameters;
import io.penstock.image.reading.ImageHeader;
import io.penstock.image.reading.ImageReader;
import io.penstock.io.publish.AtomicFile;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.sampling.Order;
import io.penstock.sampling.Sampler;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "augment",
        description = "Shows what --augment does: 'list' lists the steps, 'show' draws what a sample becomes.",
        subcommands = {AugmentCommand.Steps.class, AugmentCommand.Show.class})
final class AugmentCommand implements Callable<Integer> {

    @Mixin
    @SuppressWarnings("UnusedVariable")
    private Report report;

    @Override
    public Integer call() {
        throw new UsageException("missing command, expected list or show");
    }

    @Command(
            name = "list",
            description = "Lists the steps of --augment with their parameters and defaults.",
            footer = {"", "Values follow in this order, or by name: erase=0.25:value=128. Steps are separated by"
                    + " commas and run in their order; normalize and to end a pipeline."})
    static final class Steps implements Callable<Integer> {

        @Mixin
        private Report report;

        @Override
        public Integer call() {
            List<StepForm> forms = AugmentText.forms();
            report.print(report.isJson() ? forms.stream().map(Steps::fields).toList()
                    : forms.stream().map(Steps::text).collect(Collectors.joining()));
            return ExitCode.SUCCESS;
        }

        private static Map<String, @Nullable Object> fields(StepForm form) {
            return Json.members("name", form.name(), "short_name", form.shortName(),
                    "parameters", form.parameters().stream().map(parameter -> Json.members("name", parameter.name(),
                            "form", parameter.form(),
                            "default", parameter.standard().isEmpty() ? null : parameter.standard())).toList());
        }

        private static String text(StepForm form) {
            StringBuilder text = new StringBuilder(form.toString());
            text.append(form.name().equals(form.shortName()) ? "\n" : "    (" + form.name() + ")\n");
            form.parameters().forEach(parameter -> text.append("    ").append(parameter.name()).append(": ")
                    .append(parameter.form()).append('\n'));
            return text.toString();
        }
    }

    @Command(
            name = "show",
            sortOptions = false,
            abbreviateSynopsis = true,
            description = "Draws what a sample becomes in several epochs, with the parameters under each picture.",
            footer = {"", "Example: penstock augment show train.tar --augment rrc=224,flip --html out.html",
                "", "The first picture is the sample itself. The others are those that 'penstock stream' and a loader"
                    + " with shuffle(SEED) make of it, before normalization."})
    static final class Show implements Callable<Integer> {

        private static final String DEFAULT_STEPS = "rrc=224,flip";
        private static final int MOST_PICTURES = 1000;
        private static final long MOST_SHOWN_SIDE = 320;
        private static final int RGB = 3;

        @Mixin
        private Report report;

        @Parameters(arity = "1..*", paramLabel = "STORE", description = PlanOptions.STORES)
        private List<String> names;

        @Option(names = "--sample", paramLabel = "N", defaultValue = "0",
                description = "The sample's index in the store, from 0; default: ${DEFAULT-VALUE}.")
        private long sample;

        @Option(names = "--html", paramLabel = "FILE", required = true, description = "The HTML page to write.")
        @SuppressWarnings("NullAway.Init")
        private Path html;

        @Option(names = "--count", paramLabel = "N", defaultValue = "16",
                description = "Augmented pictures, one an epoch; default: ${DEFAULT-VALUE}.")
        private int count;

        @Option(names = "--seed", paramLabel = "NUMBER", defaultValue = "42",
                description = "Seed of the run; default: ${DEFAULT-VALUE}.")
        private long seed;

        @Option(names = "--epoch", paramLabel = "N", defaultValue = "0",
                description = "Epoch of the first picture, from 0; default: ${DEFAULT-VALUE}.")
        private long epoch;

        @Mixin
        private SampleOptions samples;

        @Mixin
        private StoreOptions storeOptions;

        /** Where the sample is in the order of an epoch. */
        private record Place(long epoch, long position) {
        }

        @Override
        public Integer call() throws IOException {
            UsageException.requireFile("--html", html);
            try (SampleSource source = samples.openPlain(names, storeOptions); Arena arena = Arena.ofConfined()) {
                check(source.dataset());
                Augment augment = samples.augmenting.pipeline().orElseGet(() -> AugmentText.parse(DEFAULT_STEPS));
                String field = samples.augmenting.fields(source.dataset()).getFirst();
                Tensor image = image(source.dataset(), field, arena);
                TensorSpec result = UsageException.valid(() -> augment.result(
                        new TensorSpec(field, image.dtype(), image.shape())));
                Tensor picture = Tensor.of(arena.allocate(result.byteSize()), DType.U8, result.shape());
                String title = "sample " + sample + ": " + image.dim(0) + " x " + image.dim(1);
                var sheet = new PictureSheet(title);
                sheet.add(small(image, arena), List.of(title, AugmentText.of(augment).replace(",", ", ")));
                List<Map<String, @Nullable Object>> pictures = new ArrayList<>();
                for (Place place : places(source.dataset().size())) {
                    List<StepParameters> drawn = augment.parameters(new KeyedRandom(seed, place.epoch),
                            place.position, (int) image.dim(0), (int) image.dim(1));
                    augment.apply(drawn, image, picture);
                    sheet.add(picture, caption(place, drawn));
                    pictures.add(Json.members("epoch", place.epoch, "position", place.position, "steps",
                            drawn.stream().map(step -> Json.members("step", step.step(), "values", step.values()))
                                    .toList()));
                }
                AtomicFile.write(html, sheet.toHtml());
                report.print(report.isJson() ? Json.members("sample", sample, "name", source.dataset().name(sample),
                        "seed", seed, "augment", AugmentText.of(augment), "html", html.toString(), "pictures", pictures)
                        : html + ": sample " + sample + " in " + NumberText.count(count, "epoch") + ", "
                                + AugmentText.of(augment) + "\n");
            }
            return ExitCode.SUCCESS;
        }

        private void check(Dataset dataset) {
            if (sample < 0 || sample >= dataset.size()) {
                throw new UsageException("--sample: found " + sample + ", expected 0 to " + (dataset.size() - 1));
            }
            if (count < 1 || count > MOST_PICTURES || epoch < 0) {
                throw new UsageException("--count " + count + ", --epoch " + epoch + ": expected 1 to " + MOST_PICTURES
                        + " pictures from an epoch of at least 0");
            }
        }

        /** A copy of the sample's image, decoded if it is a file. */
        private Tensor image(Dataset dataset, String field, Arena arena) throws IOException {
            try (DataLoader loader = DataLoader.builder(dataset.select(sample)).collator(StackAndPad.fields())
                    .batchSize(1).workers(0).open(); Batch batch = loader.next()) {
                Tensor row = batch.tensor(field).row(0);
                return row.rank() == 1 ? decoded(row, arena)
                        : Tensor.of(arena.allocate(row.byteSize()).copyFrom(row.segment()), row.dtype(), row.shape());
            }
        }

        private static Tensor decoded(Tensor file, Arena arena) throws IOException {
            try (ImageReader reader = new ImageReader(); Arena copying = Arena.ofConfined()) {
                ImageHeader header = reader.read(copying.allocate(file.byteSize()).copyFrom(file.segment()),
                        file.byteSize());
                Tensor pixels = Tensor.of(arena.allocate((long) header.height() * header.width() * RGB), DType.U8,
                        header.height(), header.width(), RGB);
                reader.decode(PixelFormat.RGB, 1, pixels.segment(), 0);
                return pixels;
            }
        }

        /** The image, no larger than is shown. */
        private static Tensor small(Tensor image, Arena arena) {
            long longer = Math.max(image.dim(0), image.dim(1));
            if (longer <= MOST_SHOWN_SIDE) {
                return image;
            }
            Augment smaller = Augment.images().resize((int) Math.max(1, image.dim(0) * MOST_SHOWN_SIDE / longer),
                    (int) Math.max(1, image.dim(1) * MOST_SHOWN_SIDE / longer));
            TensorSpec result = smaller.result(new TensorSpec("image", image.dtype(), image.shape()));
            Tensor small = Tensor.of(arena.allocate(result.byteSize()), DType.U8, result.shape());
            smaller.apply(smaller.parameters(new KeyedRandom(0, 0), 0, (int) image.dim(0), (int) image.dim(1)), image,
                    small);
            return small;
        }

        /** Where the sample is in each epoch's order. */
        private List<Place> places(long size) {
            Sampler sampler = Sampler.shuffled(size, seed);
            List<Place> places = new ArrayList<>();
            for (long e = epoch; e < epoch + count; e++) {
                Order order = sampler.epoch(e);
                long position = 0;
                while (order.at(position) != sample) {
                    position++;
                }
                places.add(new Place(e, position));
            }
            return places;
        }

        /** The place, then a line a step without the pipeline's name. */
        private static List<String> caption(Place place, List<StepParameters> drawn) {
            List<String> lines = new ArrayList<>();
            lines.add("epoch " + place.epoch + ", position " + place.position);
            for (StepParameters step : drawn) {
                if (!step.values().isEmpty()) {
                    lines.add(step.step().replaceFirst(".*\\.(?=[A-Za-z])", "") + " "
                            + step.values().entrySet().stream()
                                    .map(value -> value.getKey() + "=" + NumberText.digits(value.getValue()))
                                    .collect(Collectors.joining(" ")));
                }
            }
            return lines;
        }
    }
}
