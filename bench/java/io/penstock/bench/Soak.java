// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.bench.SoakTrainer.Part;
import io.penstock.bench.SoakTrainer.Saved;
import io.penstock.remote.cache.BlockCache;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * All parts together for hours: tars on a server at fault, read in any order and from front to back; JPEG files
 * decoded and augmented, clips of videos, packed conversations, tokens for two devices. JFR records. The process
 * ({@link SoakTrainer}) is killed and goes on from its states, many times in the first and last part of the run;
 * between them it lives long, and the cache of remote files is emptied under it all the time.
 *
 * <p>Beside it another process loads the same from local files, without workers, devices, JFR, kills or a server. The
 * digests of both must agree wherever both have one. Memory, threads, descriptors and maps of both are sampled and must
 * not grow.
 *
 * <pre>
 *   --work DIR            everything that the run writes
 *   --minutes M           120
 *   --cudart FILE         the simulated CUDA runtime, for two devices; without it, two host devices
 *   --sample-seconds S    60
 *   --summary-minutes M   10: how often a summary is printed
 *   --share X             0.15: of one processor, for each of both processes
 *   --seed N              1: when it is killed
 * </pre>
 *
 * Ends with 0 if all of it held; {@code DIR/summary.md} is the latest summary, {@code DIR/samples.csv} the samples.
 */
public final class Soak implements AutoCloseable {

    private static final int MOST_FAILURES = 20;
    private static final long TRIM_NANOS = 60_000_000_000L;
    private static final int KILLS_OF_A_PHASE = 14;
    private static final long LONGEST_LEG_SECONDS = 150;
    private static final Duration END = Duration.ofMinutes(20);

    /** What Linux says of a process at one time; and the JVM, of its heap, and of its classes and compiled code. */
    private record Sample(long seconds, String role, int leg, long rssKib, long threads, long descriptors, long maps,
            double cpuSeconds, long heapBytes, long codeBytes, boolean isWarm) {

        static final String HEADER =
                "seconds,process,leg,rss_kib,threads,descriptors,maps,cpu_seconds,heap_bytes,code_bytes,warm";

        static Optional<Sample> of(long seconds, String role, int leg, Process process, Path work, boolean isWarm) {
            Path proc = Path.of("/proc", Long.toString(process.pid()));
            try {
                String stat = Files.readString(proc.resolve("stat"));
                String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
                double cpu = (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0;
                String[] memory = Files.exists(work.resolve("memory"))
                        ? Files.readString(work.resolve("memory")).split(" ") : new String[0];
                boolean isKnown = memory.length == 2;           // else it is being written
                return Optional.of(new Sample(seconds, role, leg, status(proc, "VmRSS:"), status(proc, "Threads:"),
                        count(proc.resolve("fd")), Files.readAllLines(proc.resolve("maps")).size(), cpu,
                        isKnown ? Long.parseLong(memory[0]) : 0, isKnown ? Long.parseLong(memory[1]) : 0,
                        isKnown && isWarm));
            } catch (IOException _) {
                return Optional.empty();    // it has just ended
            }
        }

        private static long status(Path proc, String name) throws IOException {
            return Files.readAllLines(proc.resolve("status")).stream().filter(line -> line.startsWith(name))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", ""))).findFirst().orElse(0);
        }

        private static long count(Path folder) throws IOException {
            try (Stream<Path> files = Files.list(folder)) {
                return files.count();
            }
        }

        String csv() {
            return String.format(Locale.ROOT, "%d,%s,%d,%d,%d,%d,%d,%.2f,%d,%d,%b", seconds, role, leg, rssKib,
                    threads, descriptors, maps, cpuSeconds, heapBytes, codeBytes, isWarm);
        }
    }

    private final Map<String, String> options;
    private final Path work;
    private final long start;
    private final SplittableRandom random;
    private final List<Sample> samples = new ArrayList<>();
    /** The bytes of each part's digests when the process of a role started. */
    private final Map<String, List<Long>> digestsAtStart = new HashMap<>();
    private final List<Process> processes = new ArrayList<>();
    private final List<Integer> failures = new ArrayList<>();
    private final String server;
    private int legs;
    private int kills;
    private int refused;
    private long logged;

    private Soak(Map<String, String> options) throws IOException, InterruptedException {
        this.options = options;
        work = Path.of(options.get("work")).toAbsolutePath();
        random = new SplittableRandom(Long.parseLong(options.getOrDefault("seed", "1")));
        delete(work.resolve("faulty"));
        delete(work.resolve("clean"));
        delete(work.resolve("cache"));
        SoakData.write(work.resolve("data"));
        List<String> command = LoopbackServers.java("-Xmx64m", RangeServer.class.getName(),
                work.resolve("data").toString());
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        processes.add(process);
        server = "http://127.0.0.1:" + new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
        Files.writeString(work.resolve("samples.csv"), Sample.HEADER + "\n");
        start = System.nanoTime();
    }

    public static void main(String[] args) throws Exception {
        boolean isFine;
        try (Soak soak = new Soak(LoaderThroughput.options(args))) {
            isFine = soak.run();
        }
        System.exit(isFine ? 0 : 1);
    }

    private double option(String name, double otherwise) {
        return options.containsKey(name) ? Double.parseDouble(options.get(name)) : otherwise;
    }

    private long seconds() {
        return (System.nanoTime() - start) / 1_000_000_000;
    }

    private boolean run() throws IOException, InterruptedException {
        long total = (long) (60 * option("minutes", 120));
        Process clean = trainer("clean", List.of("--data", work.resolve("data").toString(), "--follow",
                work.resolve("faulty").toString()));
        Process faulty = faulty();
        long killAt = killAt(total);
        long sampleAt = 0;
        long summaryAt = (long) (60 * option("summary-minutes", 10));
        long trimmed = System.nanoTime();
        while (seconds() < total) {
            Thread.sleep(500);
            if (!clean.isAlive()) {
                throw new IOException("the run without faults ended with " + clean.exitValue());
            }
            if (!faulty.isAlive() || seconds() >= killAt) {
                end(faulty);
                faulty = faulty();
                killAt = killAt(total);
            } else if (killAt == Long.MAX_VALUE && Files.exists(work.resolve("faulty/opened"))) {
                long leg = legSeconds(total);
                killAt = seconds() + leg;
                if (leg <= LONGEST_LEG_SECONDS && random.nextInt(4) == 0) {
                    ask("/wrong");
                }
            }
            if (seconds() >= sampleAt) {
                sampleAt += (long) option("sample-seconds", 60);
                sample("faulty", faulty);
                sample("clean", clean);
            }
            if (System.nanoTime() - trimmed > TRIM_NANOS) {
                trimmed = System.nanoTime();
                trim();
            }
            if (seconds() >= summaryAt) {
                summaryAt += (long) (60 * option("summary-minutes", 10));
                summary("after " + seconds() / 60 + " minutes");
            }
        }
        Files.createFile(work.resolve("faulty/stop"));
        boolean isEnded = faulty.waitFor(END) && faulty.exitValue() == 0;
        Files.createFile(work.resolve("clean/stop"));
        isEnded &= clean.waitFor(END) && clean.exitValue() == 0;
        boolean isFine = summary("at the end, after " + seconds() / 60 + " minutes");
        System.out.println(isEnded ? "both processes ended with 0" : "FAILED: a process did not end with 0");
        System.out.println(isFine && isEnded ? "SOAK PASSED" : "SOAK FAILED");
        return isFine && isEnded;
    }

    /** Counts why a leg has ended, or kills it. */
    private void end(Process leg) throws IOException, InterruptedException {
        if (leg.isAlive()) {
            leg.destroyForcibly().waitFor();
            isRefused();                    // what it said counts no more
            kills++;
        } else if (isRefused()) {
            refused++;
        } else {
            failures.add(leg.exitValue());
            if (failures.size() > MOST_FAILURES) {
                throw new IOException("ended by itself " + failures);
            }
        }
    }

    /** When the next leg is killed if it is killed while it opens; most legs are killed some time after that. */
    private long killAt(long total) throws IOException {
        Files.deleteIfExists(work.resolve("faulty/opened"));
        return random.nextInt(5) == 0 && legSeconds(total) <= LONGEST_LEG_SECONDS ? seconds() + random.nextLong(2, 20)
                : Long.MAX_VALUE;
    }

    /** How long the next leg lives: short ones in the first quarter and the last sixth, a long one between. */
    private long legSeconds(long total) {
        long now = seconds();
        boolean isLong = now >= total / 4 && now < total * 5 / 6;
        long most = Math.clamp(total / KILLS_OF_A_PHASE / 2, 12, LONGEST_LEG_SECONDS);
        return isLong ? total * 5 / 6 - now : random.nextLong(most / 3, most);
    }

    private Process faulty() throws IOException {
        legs++;
        delete(work.resolve("jfr"));
        List<String> arguments = new ArrayList<>(List.of("--data", server + "/hostile/", "--cache",
                work.resolve("cache").toString()));
        String cudart = options.get("cudart");
        if (cudart != null) {
            arguments.add("--cuda");
        }
        return trainer("faulty", arguments, "-XX:FlightRecorderOptions=repository=" + work.resolve("jfr"),
                "-XX:StartFlightRecording=dumponexit=true,maxsize=64m,filename=" + work.resolve("last.jfr"),
                cudart == null ? "-Dsoak.host" : "-Dpenstock.cudart=" + cudart);
    }

    private Process trainer(String name, List<String> arguments, String... flags) throws IOException {
        Files.createDirectories(work.resolve(name));
        digestsAtStart.put(name, digestBytes(name));
        List<String> command = LoopbackServers.java("-Xmx320m", "-Xms320m", "-XX:+AlwaysPreTouch",
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4");
        command.addAll(List.of(flags));
        command.addAll(List.of(SoakTrainer.class.getName(), "--work", work.resolve(name).toString(), "--share",
                options.getOrDefault("share", "0.15")));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(work.resolve(name + ".log").toFile()));
        builder.environment().put("SIM_CUDA_DEVICES", "2");
        Process process = builder.start();
        processes.add(process);
        return process;
    }

    private void sample(String role, Process process) throws IOException {
        Optional<Sample> sample = Sample.of(seconds(), role, role.equals("clean") ? 0 : legs, process,
                work.resolve(role), isWarm(role));
        if (sample.isPresent()) {
            samples.add(sample.get());
            Files.writeString(work.resolve("samples.csv"), sample.get().csv() + "\n", StandardOpenOption.APPEND);
        }
    }

    /** Whether every part of a process has given batches since it started, however little of the machine it gets. */
    private boolean isWarm(String role) throws IOException {
        List<Long> now = digestBytes(role);
        List<Long> before = digestsAtStart.getOrDefault(role, now);
        return IntStream.range(0, now.size()).allMatch(part -> now.get(part) > before.get(part));
    }

    private List<Long> digestBytes(String role) throws IOException {
        List<Long> bytes = new ArrayList<>();
        for (Part part : Part.values()) {
            Path file = work.resolve(role).resolve(part.file("digests"));
            bytes.add(Files.exists(file) ? Files.size(file) : 0);
        }
        return bytes;
    }

    private void trim() {
        try {
            BlockCache.existing(work.resolve("cache")).trim(0);
        } catch (IOException e) {
            System.out.println("the cache was not emptied: " + e);
        }
    }

    private boolean summary(String when) throws IOException, InterruptedException {
        var text = new StringBuilder("## Soak, " + when + "\n\n");
        boolean isFine = digests(text);
        text.append('\n').append(kills).append(" kills and resumes; ").append(refused)
                .append(" ends because a wrong range was refused by name; others: ").append(failures)
                .append("\n\nServer: ").append(ask("/counts")).append("\n\n");
        isFine &= failures.isEmpty();
        text.append("| process | leg | samples | | first third | last third | most | flat |\n")
                .append("|---|---:|---:|---|---:|---:|---:|---|\n");
        isFine &= flat(text, "clean", 0);
        isFine &= flat(text, "faulty", longestLeg());
        Files.writeString(work.resolve("summary.md"), text);
        System.out.println(text);
        return isFine;
    }

    /** Whether the latest leg ended itself because the server answered with another range than it was asked for. */
    private boolean isRefused() throws IOException {
        Path log = work.resolve("faulty.log");
        try (Stream<String> lines = Files.lines(log).skip(logged)) {
            List<String> of = lines.toList();
            logged += of.size();
            return of.stream().anyMatch(line -> line.contains("the server answers another range"));
        }
    }

    private String ask(String path) throws InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(HttpRequest.newBuilder(URI.create(server + path)).build(),
                    HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            return e.toString();
        }
    }

    private boolean digests(StringBuilder text) throws IOException {
        text.append("| part | batches | digests | given twice | compared | different |\n")
                .append("|---|---:|---:|---:|---:|---:|\n");
        boolean isFine = true;
        boolean isCompared = true;
        long all = 0;
        for (Part part : Part.values()) {
            Map<Long, String> own = new HashMap<>();
            Map<Long, String> other = new HashMap<>();
            long differences = read(work.resolve("clean").resolve(part.file("digests")), other)[1];
            long[] twice = read(work.resolve("faulty").resolve(part.file("digests")), own);
            long compared = own.keySet().stream().filter(other::containsKey).count();
            differences += twice[1] + own.entrySet().stream().filter(entry -> other.containsKey(entry.getKey())
                    && !entry.getValue().equals(other.get(entry.getKey()))).count();
            long batches = Saved.read(work.resolve("faulty"), part).batches();
            all += batches;
            isFine &= differences == 0;
            isCompared &= compared > 0;
            text.append(String.format(Locale.ROOT, "| %s | %,d | %,d | %,d | %,d | %,d |%n", part, batches, own.size(),
                    twice[0], compared, differences));
        }
        text.append(String.format(Locale.ROOT, "| all | %,d | | | | %s |%n", all,
                !isFine ? "FAILED" : isCompared ? "none" : "not all compared yet"));
        return isFine && isCompared;
    }

    /** How many digests were written again, as a resumed run does, and how many of them differ. */
    private static long[] read(Path file, Map<Long, String> into) throws IOException {
        long[] counts = new long[2];
        try (Stream<String> lines = Files.lines(file)) {
            lines.map(line -> line.split(" ")).forEach(words -> {
                String before = into.put(Long.parseLong(words[0]), words[1]);
                counts[0] += before == null ? 0 : 1;
                counts[1] += before == null || before.equals(words[1]) ? 0 : 1;
            });
        } catch (NoSuchFileException _) {
            // nothing yet
        }
        return counts;
    }

    private int longestLeg() {
        Map<Integer, Integer> counts = new HashMap<>();
        samples.stream().filter(sample -> sample.role.equals("faulty")).forEach(sample -> counts.merge(sample.leg, 1,
                Integer::sum));
        return counts.entrySet().stream().max(Map.Entry.comparingByValue()).map(Map.Entry::getKey).orElse(0);
    }

    /** Whether the median of the last third of a process's warm samples is what the first third had, or little more. */
    private boolean flat(StringBuilder text, String role, int leg) {
        List<Sample> warm = samples.stream()
                .filter(sample -> sample.isWarm && sample.role.equals(role) && sample.leg == leg).toList();
        if (warm.size() < 6) {
            text.append("| ").append(role).append(" | ").append(leg).append(" | ").append(warm.size())
                    .append(" | too few | | | | |\n");
            return true;
        }
        // A process that takes so little of a processor is still being compiled after an hour.
        boolean isFine = flat(text, role, leg, warm, "RSS without compiled code, MiB", 20, 0.03,
                sample -> sample.rssKib - (sample.codeBytes >> 10) >> 10);
        isFine &= flat(text, role, leg, warm, "threads", 3, 0, Sample::threads);
        isFine &= flat(text, role, leg, warm, "descriptors", 4, 0, Sample::descriptors);
        isFine &= flat(text, role, leg, warm, "maps", 16, 0.03, Sample::maps);
        return isFine & flat(text, role, leg, warm, "heap after a collection, MiB", 8, 0.1, sample -> sample
                .heapBytes >> 20);
    }

    private static boolean flat(StringBuilder text, String role, int leg, List<Sample> warm, String what, long more,
            double share, ToLongFunction<Sample> value) {
        int third = warm.size() / 3;
        long first = median(warm.subList(0, third), value);
        long last = median(warm.subList(warm.size() - third, warm.size()), value);
        long mostOfFirst = warm.subList(0, third).stream().mapToLong(value).max().orElse(0);
        boolean isFlat = last <= Math.max(mostOfFirst, first * (1 + share) + more);
        text.append(String.format(Locale.ROOT, "| %s | %d | %d | %s | %,d | %,d | %,d | %s |%n", role, leg, warm.size(),
                what, first, last, warm.stream().mapToLong(value).max().orElse(0), isFlat ? "yes" : "NO"));
        return isFlat;
    }

    private static long median(List<Sample> of, ToLongFunction<Sample> value) {
        return of.stream().mapToLong(value).sorted().skip(of.size() / 2).findFirst().orElse(0);
    }

    private static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(Objects.requireNonNull(path));
                }
            }
        }
    }

    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
    }
}
