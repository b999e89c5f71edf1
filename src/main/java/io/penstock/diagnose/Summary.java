package io.penstock.diagnose;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * All that is known of a run, in the form that is written, read, merged over ranks, shown and compared. Durations are
 * in milliseconds here, as in the file; NaN stands for what was not measured, which the file has as {@code null}.
 *
 * @param run what the run is called
 * @param generatedAt when this was put together
 * @param durationSeconds from the first request for a batch to the last that happened
 * @param fingerprint what the run ran with: two runs that differ here beyond the setting in question do not compare
 * @param clock whose clock the shares of the step are taken with: {@code cpu} or {@code gpu}, never a mixture
 * @param ranks one row a rank, in order
 * @param findings most severe first; never empty, the first is the run's verdict
 * @param input the input pipeline; of a merged summary, that of the rank that waits longest for it
 * @param overhead what diagnosis itself costs
 */
public record Summary(String run, Instant generatedAt, double durationSeconds, Fingerprint fingerprint, String clock,
        List<RankSteps> ranks, List<Finding> findings, InputPipeline input, Overhead overhead) {

    /** The file that {@code penstock} and TraceML read. */
    public static final String JSON_FILE = "final_summary.json";
    /** The same for people. */
    public static final String TEXT_FILE = "final_summary.txt";

    /**
     * Writes the summary to a folder, as {@link #JSON_FILE} and {@link #TEXT_FILE}.
     *
     * @param folder where to; made if it is not there
     * @throws IOException if it cannot be written
     */
    public void write(Path folder) throws IOException {
        SummaryFile.write(this, folder);
    }

    /**
     * Reads what {@link #write} wrote.
     *
     * @param path the file, or the folder with it
     * @return the summary
     * @throws IOException if it cannot be read or is none; names the file
     */
    public static Summary read(Path path) throws IOException {
        return SummaryFile.read(path);
    }

    /**
     * Puts the summaries of the ranks of one run together. The step is judged anew, over all of them; the input
     * pipeline is that of the rank that waits longest.
     *
     * @param summaries one a rank, in any order
     * @return the summary of the run
     * @throws IllegalArgumentException if there is none, or there are two of one rank
     */
    public static Summary merge(List<Summary> summaries) {
        return SummaryFile.merge(summaries);
    }

    /**
     * The summary as its file has it.
     *
     * @return maps, lists and values as JSON writers take them
     */
    public Map<String, Object> toMap() {
        return SummaryFile.json(this);
    }

    /**
     * The summary for people.
     *
     * @return lines of 78 columns, the verdict first
     */
    public String text() {
        return SummaryText.of(this);
    }

    /**
     * What a run ran with.
     *
     * @param penstock the version of this library
     * @param jdk the Java runtime
     * @param os the operating system and its architecture
     * @param cores processors that the JVM sees
     * @param gpu the device's name; null on the host
     * @param driver its driver's version; null on the host
     * @param dataset a fingerprint of the data
     * @param batchSize samples in a batch
     * @param worldSize processes that train together
     * @param workers worker threads of a process
     * @param hostSlots host slots
     * @param deviceSlots device slots; 0 if batches are lent in place
     * @param readMode how bytes are brought in
     * @param cacheState {@code warm} if storage gave next to nothing, {@code cold} if it gave most of the bytes,
     *     {@code mixed} between, {@code unknown} where the operating system does not say
     */
    public record Fingerprint(String penstock, String jdk, String os, int cores, String gpu, String driver,
            String dataset, int batchSize, int worldSize, int workers, int hostSlots, int deviceSlots,
            String readMode, String cacheState) {
    }

    /**
     * The mean step of one rank, over its steady state.
     *
     * @param rank which
     * @param host the machine's name
     * @param steps steps that the means are of
     * @param firstStep the first of them
     * @param lastStep the last of them
     * @param stepMillis from one request for a batch to the next
     * @param inputWaitMillis waiting for input, the copy's part left out
     * @param fetchMillis the trainer's thread in {@code next()}, whatever it waited for
     * @param h2dMillis the part of the wait that was for the copy to the device
     * @param computeMillis what the trainer marked, or the time that it held the batch
     * @param forwardMillis marked forward passes
     * @param backwardMillis marked backward passes
     * @param optimizerMillis marked optimizer steps
     * @param residualMillis what is left of the step
     * @param peakMemoryBytes the most memory that batches take: slots on the host and on the device; 0 if
     *     that is not known
     */
    public record RankSteps(int rank, String host, long steps, long firstStep, long lastStep, double stepMillis,
            double inputWaitMillis, double fetchMillis, double h2dMillis, double computeMillis, double forwardMillis,
            double backwardMillis, double optimizerMillis, double residualMillis, long peakMemoryBytes) {
    }

    /**
     * What came of the input pipeline. Steady state: without the first batch of each epoch, unless said otherwise.
     *
     * @param rank whose
     * @param role {@code train} or {@code validation}
     * @param samplesPerSecond samples that the trainer took
     * @param bytesPerSecond their bytes
     * @param stepMillis how steps spread
     * @param waitMillis how waits of the trainer spread
     * @param exposedMillis how long its stream stood still for a batch
     * @param stages what each stage took, in the pipeline's order; none if the input is another library's, and then
     *     no causes, slots and predictions either
     * @param causes what the trainer waited for; adds up to the waits that were long enough to look at
     * @param slots host slots; null if there are none to know of
     * @param readyBatches how many batches stood made when the trainer asked
     * @param coldStart the first batches
     * @param tail slow steps
     * @param gc the JVM's pauses
     * @param readAmplification bytes from storage over bytes in batches; NaN if unknown
     * @param headroom real over synthetic; null if it was not measured
     * @param whatIf predictions; the first one is of the settings as they are
     * @param series the run over time, in at most 500 points
     * @param timeline a few batches in full
     */
    public record InputPipeline(int rank, String role, double samplesPerSecond, double bytesPerSecond,
            Distribution stepMillis, Distribution waitMillis, Distribution exposedMillis, List<StageRow> stages,
            List<CauseRow> causes, Slots slots, Distribution readyBatches, ColdStart coldStart, Tail tail, Gc gc,
            double readAmplification, Headroom headroom, List<Prediction> whatIf, List<StepPoint> series,
            List<BatchTimes> timeline) {
    }

    /**
     * One stage.
     *
     * @param stage which
     * @param millis how the time of a batch in it spreads
     * @param totalMillis all of it, over the threads that do it
     * @param cpuMillis what of that a thread ran; NaN if unknown
     * @param blockedMillis what of that a thread stood still; NaN if unknown
     * @param bytes bytes that went through
     * @param threads threads that do it
     * @param utilisation the share of these threads' time, 0 to 1
     */
    public record StageRow(Stage stage, Distribution millis, double totalMillis, double cpuMillis,
            double blockedMillis, long bytes, int threads, double utilisation) {
    }

    /**
     * A cause of waiting.
     *
     * @param cause which
     * @param millis over the run
     * @param share of all waiting, 0 to 1
     * @param waits how many waits it is the largest part of
     */
    public record CauseRow(Cause cause, double millis, double share, long waits) {
    }

    /**
     * The host slots.
     *
     * @param capacity how many there are
     * @param free how many had nothing in them when the trainer asked
     * @param starvedMillis how long workers waited for slots while the trainer waited for batches
     * @param backpressureMillis how long they waited while it did not: as it should be
     */
    public record Slots(int capacity, Distribution free, double starvedMillis, double backpressureMillis) {
    }

    /**
     * First batches of epochs and runs.
     *
     * @param count how many there were
     * @param waitMillis how long the trainer waited for one
     * @param openMillis how long it waited for the very first
     */
    public record ColdStart(long count, Distribution waitMillis, double openMillis) {
    }

    /**
     * Steps of more than twice the median.
     *
     * @param steps how many
     * @param timeShare their share of all time, 0 to 1
     * @param every the distance, in steps, that most of them have from each other; 0 if there is none
     */
    public record Tail(long steps, double timeShare, long every) {
    }

    /**
     * Pauses of the JVM.
     *
     * @param pauses how many
     * @param pauseMillis how long in all
     * @param stepShare their share of all steps' time
     */
    public record Gc(long pauses, double pauseMillis, double stepShare) {
    }

    /**
     * How near the run is to one whose input costs nothing.
     *
     * @param syntheticSamplesPerSecond with one batch replayed that is already there
     * @param measuredSamplesPerSecond as it was
     * @param ratio measured over synthetic
     */
    public record Headroom(double syntheticSamplesPerSecond, double measuredSamplesPerSecond, double ratio) {
    }

    /**
     * A prediction.
     *
     * @param change what would be set otherwise, for example {@code workers 4}; {@code none} for the settings as they
     *     are
     * @param samplesPerSecond what would come of it
     * @param gain its relation to the prediction for the settings as they are, minus 1
     * @param errorShare how far the prediction for the settings as they are is from what was measured
     * @param trusted whether that is at most 10 %
     * @param limit what holds it back then: {@code workers}, {@code storage}, {@code cores}, {@code trainer},
     *     {@code copy} or {@code slots}
     */
    public record Prediction(String change, double samplesPerSecond, double gain, double errorShare, boolean trusted,
            String limit) {
    }

    /**
     * Steps in a row, put together.
     *
     * @param firstStep the first of them
     * @param steps how many
     * @param atSeconds when the first was asked for, from the run's start
     * @param epoch the epoch of the first
     * @param stepMillis their mean
     * @param waitMillis the mean wait
     * @param maxWaitMillis the longest wait
     * @param samplesPerSecond samples over time
     * @param readyBatches the mean number of batches that stood made
     * @param cause the largest cause of their waiting; null if there was none
     */
    public record StepPoint(long firstStep, int steps, double atSeconds, long epoch, double stepMillis,
            double waitMillis, double maxWaitMillis, double samplesPerSecond, double readyBatches, Cause cause) {
    }

    /**
     * One batch in full, as times in milliseconds from the first one's beginning.
     *
     * @param step the batch's number
     * @param worker who made it
     * @param claimed the worker began
     * @param slot its slot was free
     * @param planned its samples were known
     * @param made it was whole
     * @param submitted its copy was enqueued; NaN without one
     * @param requested the trainer asked
     * @param taken the trainer had it
     * @param closed the trainer gave it back
     */
    public record BatchTimes(long step, int worker, double claimed, double slot, double planned, double made,
            double submitted, double requested, double taken, double closed) {
    }

    /**
     * The price of the clocks.
     *
     * @param nanosPerStep time that reading clocks and keeping accounts takes, worked out from its parts' cost here
     * @param share of the step
     */
    public record Overhead(double nanosPerStep, double share) {
    }
}
