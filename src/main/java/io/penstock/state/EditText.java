// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.json.JsonFields;
import io.penstock.sampling.Edit;
import io.penstock.sampling.Edit.Excise;
import io.penstock.sampling.Edit.ExciseSamples;
import io.penstock.sampling.Edit.Repeat;
import io.penstock.sampling.Edit.Reweigh;
import io.penstock.sampling.Edit.Until;
import io.penstock.sampling.Sampler;
import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/**
 * Edits as members of a state. Changes that feedback made are packed: an epoch and a position, each as the difference
 * to the change before, and a byte for each source's weight.
 */
final class EditText {

    private static final int VARINT_BITS = 7;
    private static final int LONGEST_VARINT = 9;

    private EditText() {
    }

    static List<Map<String, @Nullable Object>> fields(List<Edit> edits) {
        List<Map<String, @Nullable Object>> all = new ArrayList<>();
        for (int i = 0; i < edits.size();) {
            Edit edit = edits.get(i);
            if (edit instanceof Reweigh first && first.isFeedback()) {
                int sources = first.weights().size();
                int end = i;
                while (end < edits.size() && edits.get(end) instanceof Reweigh next && next.isFeedback()
                        && next.weights().size() == sources
                        && (end == i || !isBefore(next, edits.get(end - 1)))) {
                    end++;
                }
                all.add(Json.members("feedback", pack(edits.subList(i, end)), "sources", (long) sources));
                i = end;
            } else {
                all.add(fields(edit));
                i++;
            }
        }
        return all;
    }

    private static boolean isBefore(Edit edit, Edit other) {
        return edit.epoch() < other.epoch() || edit.epoch() == other.epoch() && edit.position() < other.position();
    }

    private static Map<String, @Nullable Object> fields(Edit edit) {
        List<Long> at = List.of(edit.epoch(), edit.position());
        return switch (edit) {
            case Excise cut -> Json.members("excise", List.of(cut.ofEpoch(), cut.from(), cut.end()), "at", at);
            case ExciseSamples cut -> Json.members("excise_samples", List.of(cut.from(), cut.end()), "at", at);
            case Repeat repeat -> Json.members("repeat", List.of(repeat.ofEpoch(), repeat.from(), repeat.end()), "at",
                    at);
            case Until until -> Json.members("until", List.of(until.endEpoch(), until.end()), "at", at);
            case Reweigh change -> Json.members("weights", change.weights(), "at", at);
        };
    }

    private static String pack(List<Edit> changes) {
        var bytes = new ByteArrayOutputStream();
        long epoch = 0;
        long position = 0;
        for (Edit change : changes) {
            varint(bytes, change.epoch() - epoch);
            varint(bytes, change.epoch() == epoch ? change.position() - position : change.position());
            ((Reweigh) change).weights().forEach(weight -> bytes.write(weight.intValue()));
            epoch = change.epoch();
            position = change.position();
        }
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }

    private static void varint(ByteArrayOutputStream bytes, long number) {
        long left = number;
        while (left >>> VARINT_BITS != 0) {
            bytes.write((int) (left & 0x7F | 0x80));
            left >>>= VARINT_BITS;
        }
        bytes.write((int) left);
    }

    private static long varint(ByteBuffer bytes) {
        long number = 0;
        for (int i = 0; i < LONGEST_VARINT; i++) {
            byte next = bytes.get();
            number |= (next & 0x7FL) << VARINT_BITS * i;
            if (next >= 0) {
                if (next == 0 && i > 0) {
                    break;
                }
                return number;
            }
        }
        throw new IllegalArgumentException("a number that is longer than it has to be");
    }

    /** Reads the member {@code edits}. */
    static List<Edit> edits(JsonFields state) {
        List<Edit> edits = new ArrayList<>();
        List<JsonFields> all = state.objects("edits");
        if (all.isEmpty()) {
            throw state.wrong("edits", "none", "at least one, or no member");
        }
        for (JsonFields fields : all) {
            try {
                if (fields.has("feedback")) {
                    unpack(edits, Base64.getDecoder().decode(fields.text("feedback")),
                            (int) fields.whole("sources", 1, Short.MAX_VALUE));
                } else {
                    edits.add(edit(fields));
                }
            } catch (JsonException e) {
                throw e;
            } catch (IllegalArgumentException | BufferUnderflowException e) {
                throw state.wrong("edits", String.valueOf(e.getMessage()), "an edit");
            }
            fields.end();
        }
        return edits;
    }

    private static Edit edit(JsonFields fields) {
        long[] at = wholes(fields, "at", 2);
        if (fields.has("excise")) {
            long[] range = wholes(fields, "excise", 3);
            return new Excise(at[0], at[1], range[0], range[1], range[2]);
        }
        if (fields.has("excise_samples")) {
            long[] range = wholes(fields, "excise_samples", 2);
            return new ExciseSamples(at[0], at[1], range[0], range[1]);
        }
        if (fields.has("repeat")) {
            long[] range = wholes(fields, "repeat", 3);
            return new Repeat(at[0], at[1], range[0], range[1], range[2]);
        }
        if (fields.has("until")) {
            long[] end = wholes(fields, "until", 2);
            return new Until(at[0], at[1], end[0], end[1]);
        }
        return new Reweigh(at[0], at[1], DoubleStream.of(fields.reals("weights")).boxed().toList(), false);
    }

    private static long[] wholes(JsonFields fields, String key, int count) {
        long[] numbers = fields.wholes(key, 0, Sampler.MAX_SIZE);
        if (numbers.length != count) {
            throw fields.wrong(key, numbers.length + " numbers", count + " numbers");
        }
        return numbers;
    }

    private static void unpack(List<Edit> edits, byte[] packed, int sources) {
        ByteBuffer bytes = ByteBuffer.wrap(packed);
        long epoch = 0;
        long position = 0;
        if (packed.length == 0) {
            throw new IllegalArgumentException("no change");
        }
        while (bytes.hasRemaining()) {
            long epochs = varint(bytes);
            long positions = varint(bytes);
            position = epochs == 0 ? position + positions : positions;
            epoch += epochs;
            List<Double> weights = new ArrayList<>();
            for (int s = 0; s < sources; s++) {
                weights.add((double) Byte.toUnsignedInt(bytes.get()));
            }
            edits.add(new Reweigh(epoch, position, weights, true));
        }
    }
}
