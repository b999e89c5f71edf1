// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.diagnose.Summary;
import io.penstock.diagnose.report.HtmlReport;
import io.penstock.diagnose.report.WaitCost;
import io.penstock.io.publish.AtomicFile;
import io.penstock.json.RecordJson;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "report",
        description = "Reports what slowed a run down, by how much, and what to change.",
        footer = {"",
            "Examples: penstock stream out --window 128 --steps 2000 --report run",
            "          penstock report run",
            "", "A run is a folder written by 'stream --report' or Summary.write, or the final_summary.json in it."
                + " Several runs are merged as the ranks of one."})
final class ReportCommand implements Callable<Integer> {

    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "RUN", description = "A run, or one run per rank.")
    private List<Path> runs;

    @Option(names = "--html", paramLabel = "FILE",
            description = "Write the report as one self-contained HTML file.")
    private @Nullable Path html;

    @Option(names = "--gpu-hour", paramLabel = "PRICE",
            description = "Price of a GPU's hour: also report the hours that GPUs waited, and their cost, by cause.")
    private double gpuHour = Double.NaN;

    @Option(names = {"-o", "--output"}, paramLabel = "DIR",
            description = "Write the summary to DIR; several ranks are merged into one summary.")
    private @Nullable Path folder;

    @Override
    public Integer call() throws IOException {
        UsageException.requireFile("--html", html);
        UsageException.requireOutputFolder("--output", folder);
        WatchCommand.requirePrice("--gpu-hour", gpuHour);
        Summary summary = runs.size() == 1 ? Summary.read(runs.getFirst()) : merged();
        if (folder != null) {
            summary.write(folder);
        }
        if (html != null) {
            AtomicFile.write(html, HtmlReport.of(summary, gpuHour));
        }
        WaitCost cost = WaitCost.of(summary, gpuHour);
        if (report.isJson()) {
            Map<String, @Nullable Object> json = new LinkedHashMap<>(summary.toMap());
            json.put("wait_cost", RecordJson.write(cost));
            report.print(json);
        } else {
            report.print(summary.text() + "\n" + (Double.isNaN(gpuHour) ? "" : cost.text() + "\n"));
        }
        return ExitCode.SUCCESS;
    }

    private Summary merged() throws IOException {
        List<Summary> summaries = new ArrayList<>();
        for (Path run : runs) {
            summaries.add(Summary.read(run));
        }
        return UsageException.valid(() -> Summary.merge(summaries));
    }
}
