// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Everything known about a run, in the form that is written, read, merged over ranks, shown and compared. Durations are
 * in milliseconds, as in the file; NaN means not measured and is {@code null} in the file.
 *
 * @param run the run's name
 * @param generatedAt when the summary was made
 * @param durationSeconds from the first request for a batch to the last event
 * @param fingerprint the run's conditions: two runs compare only if nothing but the tested setting differs
 * @param clock the clock of all the step's shares: {@code cpu} or {@code gpu}; {@code mixed} for ranks of both
 * @param ranks one row per rank, in order
 * @param findings most severe first; never empty; the first is the run's verdict
 * @param input the input pipeline; in a merged summary, that of the rank that waits longest for it
 * @param overhead the cost of diagnosis itself
 * @param interludes what the trainer marked as no training, the longest first
 * @param machine what was seen of the machine; null if it was not looked at
 * @param samples how long single samples took; null if none were timed
 */
public record Summary(String run, Instant generatedAt, double durationSeconds, Fingerprint fingerprint, String clock,
        List<RankSteps> ranks, List<Finding> findings, InputPipeline input, Overhead overhead,
        List<InterludeRow> interludes, @Nullable MachineUse machine, @Nullable SampleUse samples) {

    /** The file that {@code penstock} and TraceML read. */
    public static final String JSON_FILE = "final_summary.json";
    /** The summary as text. */
    public static final String TEXT_FILE = "final_summary.txt";
    /** The clock of ranks of which some are measured by the device's. */
    static final String CLOCKS_OF_BOTH = "mixed";

    /**
     * A summary without interludes, of a machine that was not looked at.
     *
     * @param run the run's name
     * @param generatedAt when the summary was made
     * @param durationSeconds from the first request for a batch to the last event
     * @param fingerprint the run's conditions
     * @param clock the clock of all the step's shares
     * @param ranks one row per rank, in order
     * @param findings most severe first; never empty
     * @param input the input pipeline
     * @param overhead the cost of diagnosis itself
     */
    public Summary(String run, Instant generatedAt, double durationSeconds, Fingerprint fingerprint, String clock,
            List<RankSteps> ranks, List<Finding> findings, InputPipeline input, Overhead overhead) {
        this(run, generatedAt, durationSeconds, fingerprint, clock, ranks, findings, input, overhead, List.of(), null,
                null);
    }

    /** This with a finding more, behind those that are as severe. The first one remains the run's verdict. */
    Summary with(Finding finding) {
        List<Finding> all = new ArrayList<>(findings);
        int at = 1;
        while (at < all.size() && all.get(at).severity().compareTo(finding.severity()) >= 0) {
            at++;
        }
        all.add(at, finding);
        return new Summary(run, generatedAt, durationSeconds, fingerprint, clock, ranks, List.copyOf(all), input,
                overhead, interludes, machine, samples);
    }

    /**
     * Writes the summary to a folder, as {@link #JSON_FILE} and {@link #TEXT_FILE}.
     *
     * @param folder the target folder; created if missing
     * @throws IOException if it cannot be written
     */
    public void write(Path folder) throws IOException {
        SummaryFile.write(this, folder);
    }

    /**
     * Reads a summary that {@link #write} wrote.
     *
     * @param path the file, or the folder that contains it
     * @return the summary
     * @throws IOException if it cannot be read or is not a summary; names the file
     */
    public static Summary read(Path path) throws IOException {
        return SummaryFile.read(path);
    }

    /**
     * Merges the summaries of one run's ranks. The step is judged again, over all ranks; the input pipeline is that of
     * the rank that waits longest.
     *
     * @param summaries one per rank, in any order
     * @return the summary of the run
     * @throws IllegalArgumentException if there is none, or a rank has two
     */
    public static Summary merge(List<Summary> summaries) {
        return SummaryFile.merge(summaries);
    }

    /** {@return the summary as in its file: maps, lists and values for a JSON writer} */
    public Map<String, @Nullable Object> toMap() {
        return SummaryFile.json(this);
    }

    /** {@return the summary as text: lines of 78 columns, the verdict first} */
    public String text() {
        return SummaryText.of(this);
    }

    /**
     * The conditions of a run.
     *
     * @param penstock the version of this library
     * @param jdk the Java runtime
     * @param os the operating system and its architecture
     * @param cores processors visible to the JVM
     * @param gpu the device's name; null on the host
     * @param driver its driver's version; null on the host
     * @param dataset a fingerprint of the data
     * @param batchSize samples per batch
     * @param worldSize number of processes that train together
     * @param workers worker threads per process
     * @param hostSlots host slots
     * @param deviceSlots device slots; 0 if batches are lent in place
     * @param readMode how bytes are read
     * @param cacheState {@code warm} if storage delivered almost nothing, {@code cold} if it delivered most of the
     *     bytes, {@code mixed} between, {@code unknown} if the operating system does not report it
     */
    public record Fingerprint(String penstock, String jdk, String os, int cores, @Nullable String gpu,
            @Nullable String driver, @Nullable String dataset, int batchSize, int worldSize, int workers,
            int hostSlots, int deviceSlots, @Nullable String readMode, String cacheState) {

        /** The conditions of a run of this process. */
        static Fingerprint of(int cores, @Nullable String gpu, @Nullable String dataset, int batchSize, int worldSize,
                int workers, int hostSlots, int deviceSlots, @Nullable String readMode, String cacheState) {
            String version = Summary.class.getPackage().getImplementationVersion();
            return new Fingerprint(version == null ? "development" : version, Runtime.version().toString(),
                    System.getProperty("os.name") + " " + System.getProperty("os.arch"), cores, gpu, null, dataset,
                    batchSize, worldSize, workers, hostSlots, deviceSlots, readMode, cacheState);
        }
    }

    /**
     * The mean step of one rank, over its steady state.
     *
     * @param rank the rank
     * @param host the machine's name
     * @param steps number of steps averaged
     * @param firstStep the first of them
     * @param lastStep the last of them
     * @param stepMillis from one request for a batch to the next
     * @param inputWaitMillis input wait, without the copy's part
     * @param fetchMillis the trainer's thread in {@code next()}, whatever it waited for
     * @param h2dMillis the part of the wait spent on the copy to the device
     * @param computeMillis the marked time; without marks, the time that the batch was held or, by the device's clock,
     *     that the trainer's stream worked
     * @param forwardMillis marked forward passes
     * @param backwardMillis marked backward passes
     * @param optimizerMillis marked optimizer steps
     * @param residualMillis the rest of the step
     * @param peakMemoryBytes peak memory of batches: slots on the host and on the device; 0 if unknown
     */
    public record RankSteps(int rank, String host, long steps, long firstStep, long lastStep, double stepMillis,
            double inputWaitMillis, double fetchMillis, double h2dMillis, double computeMillis, double forwardMillis,
            double backwardMillis, double optimizerMillis, double residualMillis, long peakMemoryBytes) {
    }

    /**
     * The results of the input pipeline, over the steady state: without each epoch's first batch, unless stated.
     *
     * @param rank the rank
     * @param role {@code train} or {@code validation}
     * @param samplesPerSecond samples that the trainer took
     * @param bytesPerSecond their bytes
     * @param stepMillis the distribution of steps
     * @param waitMillis the distribution of the trainer's waits
     * @param onDevice what the device's clock says; null if steps are by the thread's
     * @param stages each stage's times, in pipeline order; empty for another library's input, which then has no causes,
     *     slots or predictions either
     * @param parts decoding, and the steps of sample maps; empty without any
     * @param causes what the trainer waited for; adds up to the waits long enough to analyze
     * @param slots host slots; null if unknown
     * @param readyBatches complete batches at the trainer's requests
     * @param coldStart the first batches
     * @param tail slow steps
     * @param gc the JVM's pauses
     * @param readAmplification bytes from storage over bytes in batches; NaN if unknown
     * @param headroom real over synthetic; null if not measured
     * @param whatIf predictions; the first is for the present settings
     * @param series the run over time, in at most 500 points
     * @param timeline a few batches in detail
     */
    public record InputPipeline(int rank, String role, double samplesPerSecond, double bytesPerSecond,
            Distribution stepMillis, Distribution waitMillis, @Nullable DeviceSteps onDevice, List<StageRow> stages,
            List<PartRow> parts, List<CauseRow> causes, @Nullable Slots slots, Distribution readyBatches,
            ColdStart coldStart, Tail tail, Gc gc, double readAmplification, @Nullable Headroom headroom,
            List<Prediction> whatIf, List<StepPoint> series, List<BatchTimes> timeline) {
    }

    /**
     * What the device's clock says of the steps.
     *
     * @param copyMillis copying a batch
     * @param stageMillis the loader's stages
     * @param exposedMillis how long the trainer's stream stalled for a batch
     * @param computeMillis how long it then worked
     * @param overlap the share of copies and stages that ran while the trainer's stream did not wait for them, 0 to 1;
     *     NaN if they took no time
     */
    public record DeviceSteps(Distribution copyMillis, Distribution stageMillis, Distribution exposedMillis,
            Distribution computeMillis, double overlap) {
    }

    /**
     * One stage.
     *
     * @param stage the stage
     * @param millis the distribution of a batch's time in it
     * @param totalMillis total time, over its threads
     * @param cpuMillis the part in which a thread ran; NaN if unknown
     * @param blockedMillis the part in which a thread was blocked; NaN if unknown
     * @param bytes bytes processed
     * @param threads number of its threads
     * @param utilization the busy share of these threads' time, 0 to 1
     */
    public record StageRow(Stage stage, Distribution millis, double totalMillis, double cpuMillis,
            double blockedMillis, long bytes, int threads, double utilization) {
    }

    /**
     * A part of the work on samples, such as a step of an augmentation.
     *
     * @param part its name
     * @param totalMillis total time, over all workers; for a part of a map, estimated from one sample in eight
     * @param share of the time of all parts, 0 to 1
     */
    public record PartRow(String part, double totalMillis, double share) {
    }

    /**
     * A cause of waiting.
     *
     * @param cause the cause
     * @param millis total over the run
     * @param share of all waiting, 0 to 1
     * @param waits number of waits of which it is the largest part
     */
    public record CauseRow(Cause cause, double millis, double share, long waits) {
    }

    /**
     * The host slots.
     *
     * @param capacity number of slots
     * @param free empty slots at the trainer's requests
     * @param starvedMillis how long workers waited for slots while the trainer waited for batches
     * @param backpressureMillis how long they waited while it did not, which is normal
     */
    public record Slots(int capacity, Distribution free, double starvedMillis, double backpressureMillis) {
    }

    /**
     * First batches of epochs and runs.
     *
     * @param count number of first batches
     * @param waitMillis how long the trainer waited for each
     * @param openMillis how long it waited for the very first
     */
    public record ColdStart(long count, Distribution waitMillis, double openMillis) {

        static ColdStart of(double[] waitsMillis) {
            return new ColdStart(waitsMillis.length, Distribution.of(waitsMillis),
                    waitsMillis.length == 0 ? Double.NaN : waitsMillis[0]);
        }
    }

    /**
     * Steps longer than twice the median.
     *
     * @param steps number of them
     * @param timeShare their share of all time, 0 to 1
     * @param every the distance in steps between most of them; 0 if there is none
     */
    public record Tail(long steps, double timeShare, long every) {
    }

    /**
     * Pauses of the JVM.
     *
     * @param pauses number of pauses
     * @param pauseMillis total duration
     * @param stepShare their share of all steps' time
     */
    public record Gc(long pauses, double pauseMillis, double stepShare) {

        static Gc of(List<Recording.Stretch> pauses, double nanosInSteps, double stepNanos) {
            return new Gc(pauses.size(), pauses.stream().mapToLong(Recording.Stretch::nanos).sum() / 1e6,
                    stepNanos == 0 ? 0 : nanosInSteps / stepNanos);
        }
    }

    /**
     * The run's throughput relative to input that costs nothing.
     *
     * @param syntheticSamplesPerSecond throughput when replaying one loaded batch
     * @param measuredSamplesPerSecond throughput with the real input
     * @param ratio measured over synthetic
     */
    public record Headroom(double syntheticSamplesPerSecond, double measuredSamplesPerSecond, double ratio) {
    }

    /**
     * A prediction.
     *
     * @param change the changed setting, for example {@code workers 4}; {@code none} for the present settings
     * @param samplesPerSecond predicted throughput
     * @param gain its ratio to the prediction for the present settings, minus 1
     * @param errorShare deviation of the prediction for the present settings from the measurement
     * @param trusted whether that is at most 10 %
     * @param limit the remaining bottleneck: {@code workers}, {@code storage}, {@code cores}, {@code trainer},
     *     {@code copy} or {@code slots}
     */
    public record Prediction(String change, double samplesPerSecond, double gain, double errorShare, boolean trusted,
            String limit) {
    }

    /**
     * Consecutive steps, aggregated.
     *
     * @param firstStep the first of them
     * @param steps number of steps
     * @param atSeconds when the first was requested, from the run's start
     * @param epoch the epoch of the first
     * @param stepMillis their mean
     * @param waitMillis the mean wait
     * @param maxWaitMillis the longest wait
     * @param samplesPerSecond samples over time
     * @param readyBatches the mean number of complete batches
     * @param cause the largest cause of waiting; null without one
     */
    public record StepPoint(long firstStep, int steps, double atSeconds, long epoch, double stepMillis,
            double waitMillis, double maxWaitMillis, double samplesPerSecond, double readyBatches,
            @Nullable Cause cause) {
    }

    /**
     * One batch in detail; times are milliseconds from the start of the first batch.
     *
     * @param step the batch's number
     * @param worker the worker that made it
     * @param claimed the worker started
     * @param slot its slot was free
     * @param planned its samples were known
     * @param made it was complete
     * @param submitted its copy was enqueued; NaN without one
     * @param requested the trainer requested it
     * @param taken the trainer got it
     * @param closed the trainer returned it
     */
    public record BatchTimes(long step, int worker, double claimed, double slot, double planned, double made,
            double submitted, double requested, double taken, double closed) {
    }

    /**
     * What the trainer marked as no training, which no step, throughput or share includes.
     *
     * @param name what it is: {@code checkpoint}, {@code evaluation}
     * @param count how often it was done
     * @param millis how long in all
     * @param share its share of the run, 0 to 1
     */
    public record InterludeRow(String name, long count, double millis, double share) {
    }

    /**
     * What was seen of the machine during the measured steps. NaN is what it does not tell. Shares are 0 to 1.
     *
     * @param gpu the GPU's name; why there are no figures of one, in parentheses
     * @param gpuUtilization mean share of time in which a kernel ran
     * @param gpuMemoryBytes the most memory that was used of the GPU
     * @param gpuProcessBytes the most that this process used of it
     * @param gpuWatts mean power
     * @param gpuCelsius highest temperature
     * @param gpuClockShare mean clock of its possible one
     * @param residentBytes the most RAM that the process had
     * @param cores processor time of the process per time
     * @param loaderCores that of loaders' threads
     * @param cpuPressure share of time in which a task of the system lacked a core
     * @param ioPressure share of time in which one waited for storage
     * @param diskBytesPerSecond read from storage by the process
     * @param networkBytesPerSecond received by the process's network namespace
     * @param limitCores cores that the control group may use; NaN without a limit
     * @param throttledShare share of the control group's periods in which it had to wait
     */
    public record MachineUse(String gpu, double gpuUtilization, double gpuMemoryBytes, double gpuProcessBytes,
            double gpuWatts, double gpuCelsius, double gpuClockShare, double residentBytes, double cores,
            double loaderCores, double cpuPressure, double ioPressure, double diskBytesPerSecond,
            double networkBytesPerSecond, double limitCores, double throttledShare) {
    }

    /**
     * How long single samples took: those that are decoded, mapped or generated. Those of batches made ahead count too.
     *
     * @param steps the steps of the work on a sample, in order
     * @param slowest the slowest samples, the slowest first, at most ten
     */
    public record SampleUse(List<SampleStep> steps, List<SlowRow> slowest) {
    }

    /**
     * One step of the work on samples.
     *
     * @param step {@code read}, {@code decode} or {@code transform}
     * @param samples how often it was done
     * @param p50Millis the median, exact to an eighth
     * @param p99Millis that 99 % do not exceed
     * @param totalMillis in all
     * @param slowSamples samples that took at least eight times the median
     * @param slowShare their share of the step's time, 0 to 1
     */
    public record SampleStep(String step, long samples, double p50Millis, double p99Millis, double totalMillis,
            long slowSamples, double slowShare) {
    }

    /**
     * A slow sample, at the time when it took longest.
     *
     * @param name its name: that of its file, or {@code sample 17}
     * @param sample its index in the dataset
     * @param bytes its stored bytes
     * @param millis in all
     * @param readMillis reading
     * @param decodeMillis decoding
     * @param transformMillis maps and generators
     */
    public record SlowRow(String name, long sample, long bytes, double millis, double readMillis, double decodeMillis,
            double transformMillis) {
    }

    /**
     * The cost of measuring.
     *
     * @param nanosPerStep time for reading clocks and keeping accounts, computed from the measured cost of each
     * @param share the same as a share of the step
     */
    public record Overhead(double nanosPerStep, double share) {
    }
}
