// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.memory.Tensor;
import io.penstock.sampling.Sampler;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Orders that depend on one number per sample, read from a file. */
final class ListedOrder {

    /** Kinds that need a seed. */
    private static final List<String> DRAWN = List.of("weighted", "weighted-once", "balanced", "stratified");

    /**
     * Returns the order of a kind.
     *
     * @param draws the number of samples in an epoch; null for as many as the dataset has
     * @throws IllegalArgumentException if the kind is unknown or the numbers do not fit
     */
    static Sampler of(String kind, Path file, long size, @Nullable Long draws, boolean sequential, long seed) {
        if (draws != null && (kind.equals("stratified") || kind.equals("subset"))) {
            throw new IllegalArgumentException("--draws: found with --order " + kind + ", which uses each sample once;"
                    + " expected weighted, weighted-once or balanced");
        }
        if (sequential && DRAWN.contains(kind)) {
            throw new IllegalArgumentException("--no-shuffle: found with --order " + kind + ", which is random;"
                    + " expected subset");
        }
        try (TensorStore store = TensorStore.open(file)) {
            if (store.tensors().size() != 1 || store.tensors().getFirst().rank() != 1) {
                throw new IllegalArgumentException("--order: found " + store.tensors() + " in " + file
                        + ", expected one array of numbers");
            }
            Tensor numbers = store.tensor(0);
            if (!kind.equals("subset") && numbers.elementCount() != size) {
                throw new IllegalArgumentException("--order: found " + numbers.elementCount() + " numbers in " + file
                        + ", expected one per sample (" + size + ")");
            }
            long epoch = draws != null ? draws : size;
            return switch (kind) {
                case "weighted" -> Sampler.weighted(doubles(numbers), epoch, seed);
                case "weighted-once" -> Sampler.weightedWithoutReplacement(doubles(numbers), draws != null ? draws
                        : IntStream.range(0, (int) size).filter(i -> numbers.getDouble(i) > 0).count(), seed);
                case "balanced" -> Sampler.balanced(classes(numbers), epoch, seed);
                case "stratified" -> Sampler.stratified(classes(numbers), seed);
                case "subset" -> Sampler.subset(LongStream.range(0, numbers.elementCount()).map(numbers::getLong)
                        .toArray(), size, sequential ? Sampler.sequential(numbers.elementCount())
                        : Sampler.shuffled(numbers.elementCount(), seed));
                default -> throw new IllegalArgumentException("--order: found '" + kind
                        + "', expected weighted, weighted-once, balanced, stratified or subset");
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (UnsupportedOperationException | IndexOutOfBoundsException | ArithmeticException e) {
            throw new IllegalArgumentException("--order: " + file + ": " + e.getMessage(), e);
        }
    }

    /**
     * Returns the whole numbers of a file, one for each sample.
     *
     * @param option that named the file
     * @throws IllegalArgumentException if the numbers do not fit
     */
    static long[] longs(String option, Path file, long size) {
        try (TensorStore store = TensorStore.open(file)) {
            if (store.tensors().size() != 1 || store.tensors().getFirst().rank() != 1
                    || store.tensor(0).elementCount() != size) {
                throw new IllegalArgumentException(option + ": found " + store.tensors() + " in " + file
                        + ", expected one array of numbers, one per sample (" + size + ")");
            }
            Tensor numbers = store.tensor(0);
            return LongStream.range(0, size).map(numbers::getLong).toArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (UnsupportedOperationException | IndexOutOfBoundsException | ArithmeticException e) {
            throw new IllegalArgumentException(option + ": " + file + ": " + e.getMessage(), e);
        }
    }

    private static double[] doubles(Tensor numbers) {
        return LongStream.range(0, Math.toIntExact(numbers.elementCount())).mapToDouble(numbers::getDouble).toArray();
    }

    private static int[] classes(Tensor numbers) {
        return LongStream.range(0, Math.toIntExact(numbers.elementCount()))
                .mapToInt(i -> Math.toIntExact(numbers.getLong(i))).toArray();
    }
}
