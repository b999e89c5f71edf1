// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.augment.Augment;
import io.penstock.augment.AugmentText;
import io.penstock.dataset.Dataset;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What is done to images by chance. */
final class AugmentOptions {

    private static final String FILE = "@";

    @Option(names = "--augment", paramLabel = "STEPS",
            description = "Augment images, for example rrc=224,flip,jitter=0.4:0.4:0.4:0.1; 'penstock augment list'"
                    + " lists the steps. @FILE: steps from a file of JSON.")
    private @Nullable String text;

    @Option(names = "--augment-field", paramLabel = "NAME", split = ",",
            description = "Fields that --augment changes alike, such as an image and its mask; default: the only field"
                    + " of images.")
    private List<String> fields = List.of();

    Optional<Augment> pipeline() throws IOException {
        String steps = text;
        if (steps == null) {
            if (!fields.isEmpty()) {
                throw new UsageException("--augment-field: found without --augment, expected both");
            }
            return Optional.empty();
        }
        if (steps.startsWith(FILE)) {
            return Optional.of(AugmentText.read(Path.of(steps.substring(1))));
        }
        try {
            return Optional.of(AugmentText.parse(steps));
        } catch (IllegalArgumentException e) {
            throw new UsageException("--augment: " + e.getMessage());
        }
    }

    /** The names that the option gave; empty without it. */
    List<String> named() {
        return fields;
    }

    /** The names of the fields to augment. */
    List<String> fields(Dataset images) {
        if (!fields.isEmpty()) {
            return fields;
        }
        List<String> decoded = images.fields().stream().filter(Augment::areImages).map(TensorSpec::name).toList();
        List<String> found = !decoded.isEmpty() ? decoded : images.fields().stream()
                .filter(AugmentOptions::hasFiles).map(TensorSpec::name).toList();
        if (found.size() != 1) {
            throw new UsageException(found.isEmpty()
                    ? "--augment: found no field of images in " + images.fields() + ", expected one"
                    : "--augment-field: missing, expected some of " + found);
        }
        return found;
    }

    /** Whether a field has image files as stored, by its name. */
    static boolean hasFiles(TensorSpec field) {
        return field.dtype() == DType.U8 && field.rank() == 1 && field.isVariable()
                && DecoderText.isImageName(field.name());
    }

    /** The samples with augmented images, if the option was given. */
    SampleSource over(SampleSource plain) throws IOException {
        Optional<Augment> pipeline = pipeline();
        if (pipeline.isEmpty()) {
            return plain;
        }
        Dataset augmented = plain.dataset();
        for (String field : fields(plain.dataset())) {
            try {
                augmented = pipeline.get().mapped(augmented, field);
            } catch (IllegalArgumentException e) {
                throw new UsageException("--augment: " + field + ": " + e.getMessage());
            }
        }
        String steps = AugmentText.of(pipeline.get());
        Map<String, @Nullable Object> cut = new LinkedHashMap<>(plain.cut());
        cut.putAll(Json.members("fields", augmented.fields().stream().map(TensorSpec::toString).toList(),
                "augment", steps));
        return plain.with(augmented, cut, plain.text() + " augmented by " + steps + " to " + augmented.fields());
    }
}
