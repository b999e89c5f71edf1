// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.store.IfExists;
import io.penstock.tokenize.TokenizeJob;
import io.penstock.tokenize.Tokenizer;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.launcher.JavaModuleOptions;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * What tokenizing costs with Spark and without, by turns in one run: the CPU time of a process that does it once, start
 * included, and that of doing it a fourth time in the same process. Nothing is shuffled, then everything. Spark reads
 * JSON lines, and Parquet with the same texts.
 *
 * <p>Arguments: a file of JSON lines, rounds (default 2).
 */
public final class SparkRate {

    private static final int TIMES = 4;

    private SparkRate() {
    }

    /**
     * Runs it.
     *
     * @param args the file, rounds; or a way to tokenize, the file and the output
     */
    public static void main(String[] args) throws Exception {
        if (args.length == 3) {
            tokenize(args[0], Path.of(args[1]), Path.of(args[2]));
            return;
        }
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        Path folder = Files.createTempDirectory(Path.of(args[0]).toAbsolutePath().getParent(), "rate");
        Path parquet = folder.resolve("texts.parquet");
        run("prepare", Path.of(args[0]), parquet);
        System.out.println("| MB a CPU second | once, with the start | a fourth time |\n|---|--:|--:|");
        for (int round = 0; round < rounds; round++) {
            for (String way : List.of("command line", "JsonLines, as given", "JsonLines, shuffled", "json, as given",
                    "parquet, as given", "parquet, shuffled")) {
                run(way, Path.of(args[0]), folder.resolve("tokens"));
            }
        }
    }

    private static void run(String way, Path file, Path output) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(), "-Xmx2g"));
        command.addAll(List.of(JavaModuleOptions.defaultModuleOptionArray()));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), SparkRate.class.getName(), way,
                file.toString(), output.toString()));
        if (new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT).start().waitFor() != 0) {
            throw new IllegalStateException(way + " failed");
        }
    }

    private static SparkSession session() {
        return SparkSession.builder().master("local[2]").config("spark.ui.enabled", false)
                .config("spark.driver.host", "127.0.0.1").getOrCreate();
    }

    private static Dataset<Row> rows(String format, Path lines, Path parquet) {
        return switch (format) {
            case "JsonLines" -> JsonLines.read(session(), "text", lines.toString());
            case "json" -> session().read().schema("text STRING").json(lines.toString());
            default -> session().read().parquet(parquet.toString());
        };
    }

    private static void tokenize(String way, Path file, Path output) throws Exception {
        if (way.equals("prepare")) {
            rows("json", file, output).repartition(4).write().parquet(output.toString());
            System.exit(0);
        }
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        double[] cpuSeconds = new double[TIMES];
        for (int i = 0; i < TIMES; i++) {
            if (way.equals("command line")) {
                new TokenizeJob(Tokenizer.of("gpt2"), List.of(file), output).threads(2).appendEndOfText()
                        .ifExists(IfExists.REPLACE).run();
            } else {
                Dataset<Row> rows = rows(way.substring(0, way.indexOf(',')), file,
                        output.resolveSibling("texts.parquet"));
                new SparkTokenizeJob(rows, "text", TokenizerSource.published("gpt2"), output.toString())
                        .appendEndOfText()
                        .ifExists(IfExists.REPLACE)
                        .order(way.endsWith("shuffled") ? RowOrder.shuffled(42, 8) : RowOrder.asGiven()).run();
            }
            cpuSeconds[i] = system.getProcessCpuTime() / 1e9;
        }
        double megabytes = Files.size(file) / 1e6;
        System.out.printf("| %s | %.1f | %.1f |%n", way, megabytes / cpuSeconds[0],
                megabytes / (cpuSeconds[TIMES - 1] - cpuSeconds[TIMES - 2]));
        System.exit(0);
    }
}
