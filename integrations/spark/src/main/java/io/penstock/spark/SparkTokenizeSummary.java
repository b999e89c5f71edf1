// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.manifest.Manifest;

/**
 * What a job wrote.
 *
 * @param store the manifest's path or URI
 * @param manifest its content
 * @param resumedParts parts that an earlier run of the job had written
 * @param filteredDocuments documents that the run left out because they were too short or too long; without those of
 *     resumed parts
 */
public record SparkTokenizeSummary(String store, Manifest manifest, int resumedParts, long filteredDocuments) {
}
