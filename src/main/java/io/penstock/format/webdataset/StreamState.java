// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;

/**
 * The state of a {@link WebDatasetStream}: resuming from it gives exactly the samples that would have followed. It
 * takes two numbers per sample in the shuffle buffer, and a few more.
 *
 * @param shards the fingerprint of the list of shards
 * @param order how it shuffles
 * @param epoch the epoch, from 0
 * @param given the samples of the epoch returned so far
 * @param random the state of the random numbers
 * @param shard the next shard to read, as a position in the epoch's shard order
 * @param offset where its next sample starts in the tar; 0 at its start
 * @param buffered the samples in the buffer, in order: for each, its shard's position in the epoch's order and its
 *     start in the tar
 */
public record StreamState(String shards, StreamOrder order, long epoch, long given, long random, int shard,
        long offset, List<Long> buffered) {

    /** The version of the text form that {@link #toJson()} writes. */
    public static final long FORMAT_VERSION = 1;

    private static final String VERSION_KEY = "penstock_stream_state";

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is negative that cannot be, or the buffer holds too much
     */
    public StreamState {
        Objects.requireNonNull(shards, "shards");
        Objects.requireNonNull(order, "order");
        buffered = List.copyOf(buffered);
        if (epoch < 0 || given < 0 || shard < 0 || offset < 0 || buffered.stream().anyMatch(number -> number < 0)) {
            throw new IllegalArgumentException("a stream's state with negative numbers");
        }
        if (buffered.size() % 2 != 0 || buffered.size() / 2 > order.bufferSamples()) {
            throw new IllegalArgumentException("a stream's state with " + buffered.size() + " numbers for a buffer of "
                    + order.bufferSamples() + " samples, expected at most two each");
        }
    }

    /** {@return the state in its text form, one line of JSON} */
    public String toJson() {
        return Json.write(Json.members(VERSION_KEY, FORMAT_VERSION, "shards", shards,
                "seed", order.seed(), "shuffle_shards", order.shuffleShards(), "buffer_samples", order.bufferSamples(),
                "initial_samples", order.initialSamples(), "epoch", epoch, "given", given, "random", random,
                "shard", shard, "offset", offset, "buffered", buffered));
    }

    /**
     * Reads the text form back.
     *
     * @param json what {@link #toJson()} wrote
     * @return the state
     * @throws IllegalArgumentException if the text is not a state of this version; says why
     */
    public static StreamState fromJson(CharSequence json) {
        JsonFields fields = JsonFields.parse(json, "a stream's state");
        fields.expect(VERSION_KEY, FORMAT_VERSION);
        StreamState state = new StreamState(fields.text("shards"), new StreamOrder(fields.whole("seed"),
                fields.truth("shuffle_shards"), fields.integer("buffer_samples"), fields.integer("initial_samples")),
                fields.whole("epoch"), fields.whole("given"), fields.whole("random"), fields.integer("shard"),
                fields.whole("offset"), LongStream.of(fields.wholes("buffered", 0, Long.MAX_VALUE)).boxed().toList());
        fields.end();
        return state;
    }
}
