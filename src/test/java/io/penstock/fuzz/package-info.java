// SPDX-License-Identifier: Apache-2.0
/**
 * Coverage-guided fuzzing of everything that reads files which somebody else wrote, with Jazzer.
 *
 * <p><b>What must hold</b>, whatever the bytes: the parser gives something consistent, or an
 * {@link java.io.IOException} or a {@link io.penstock.error.PenstockException} whose message is one line that names the
 * file. Another exception, a stack overflow, an input that takes more than 5 seconds (in a build, which may run beside
 * other programs, 120), a heap above 512 MiB, a process above 2 GiB, and a mapping or file that is left open is a
 * finding.
 *
 * <p><b>To add a parser</b>, write one class here whose name ends in {@code Fuzz} and which has a constant
 * {@code TARGET}; it is found by its name:
 *
 * <pre>{@code
 * // Megatron-LM's index and tokens.
 * final class MegatronFuzz {
 *     static final FuzzTarget TARGET = StoreFuzz.of("megatron", "megatron", "x.idx", "x.bin");
 * }
 * }</pre>
 *
 * <p>The names are those of the files that an input is written to, and the first is the one that is opened unless
 * {@link io.penstock.fuzz.StoreFuzz#opening} says otherwise. An input has the files' bytes one after another, with
 * {@link io.penstock.fuzz.Parts#SEPARATOR} between them: it survives mutations that insert and delete, which lengths
 * would not. Files for which there is no part do not exist. The fixtures of the kind, with all files of their entry in
 * the manifest whose ending is one of those names', are what fuzzing starts from; {@code StoreFuzz#seededBy} adds
 * others. A parser that is no store implements {@link io.penstock.fuzz.FuzzTarget} itself, as {@code JsonFuzz} does.
 *
 * <p><b>To run it.</b> {@code mvn verify} gives each target a bounded number of inputs. There, targets share a process
 * for each processor; a failure names the folder with the target's input.
 *
 * <pre>{@code
 * mvn -B test -Dtest=FuzzTest -Dfuzz.target=Npy -Dfuzz.seconds=600
 * }</pre>
 *
 * <p>runs one of them for ten minutes ({@code -Dfuzz.target=Npy,Json} two of them; without it, all, one after
 * another). What it has learned is kept in {@code target/fuzz/Npy/corpus} for the next run, its log is
 * {@code target/fuzz/Npy/log}. An input that is a finding is written to {@code src/test/resources/fuzz/Npy}: all that
 * are there run first, in every build, as tests of their own. Commit it with the fix.
 */
package io.penstock.fuzz;
