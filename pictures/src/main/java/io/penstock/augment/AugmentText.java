// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.augment.step.PipelineText;
import io.penstock.image.StepForm;
import io.penstock.io.publish.JsonFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Pipelines as text, for command lines and settings.
 *
 * {@snippet :
 * Augment augment = AugmentText.parse("rrc=224,flip,jitter=0.4:0.4:0.4:0.1,normalize=imagenet,to=bf16");
 * System.out.println(AugmentText.of(augment));        // the same
 * }
 *
 * <p>A step is its short name, or the name of its method in {@link Augment}, in any case; then its values, separated by
 * colons, in their order or with their names: {@code erase=0.25:value=128}. A value that is left out is torchvision's
 * default. {@link #forms} lists all steps. A text that starts with {@code name=} names the pipeline:
 * {@code name="view b",rrc=224}.
 *
 * <pre>
 *   pipeline = [ "name=" word , "," ] , step , { "," , step }
 *   step     = name , [ "=" , value , { ":" , value } ]
 *   value    = [ parameter , "=" ] , text
 * </pre>
 *
 * <p>A file has the same as JSON; a value may be a number, a text, or an array for a size, a range or channels:
 *
 * <pre>{@code
 * {"steps": [{"step": "randomResizedCrop", "size": 224, "scale": [0.2, 1]}, {"step": "horizontalFlip"}]}
 * }</pre>
 */
public final class AugmentText {

    private static final long MOST_FILE_BYTES = 1 << 20;

    private AugmentText() {
    }

    /**
     * Reads a pipeline.
     *
     * @param text the pipeline; empty for one without steps
     * @return the pipeline
     * @throws IllegalArgumentException if the text is no pipeline: names the character, the step, what was found and
     *     what was expected
     */
    public static Augment parse(String text) {
        return new Augment(PipelineText.parse(text));
    }

    /**
     * Reads a pipeline from a file of JSON.
     *
     * @param file the file
     * @return the pipeline
     * @throws IOException if the file cannot be read or is no pipeline: names the file and the field
     */
    public static Augment read(Path file) throws IOException {
        return new Augment(JsonFile.read(file, "a pipeline of augmentation", MOST_FILE_BYTES, PipelineText::read));
    }

    /**
     * Writes a pipeline. {@link #parse} reads the same pipeline from the text: with the same pixels and fingerprint. A
     * text has neither the library that decodes files nor the limit of their pixels.
     *
     * @param pipeline the pipeline
     * @return the text, with short names and without values that are as usual
     */
    public static String of(Augment pipeline) {
        return PipelineText.of(pipeline.pipeline());
    }

    /** {@return all steps that a text may have} */
    public static List<StepForm> forms() {
        return PipelineText.forms();
    }
}
