// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.manifest;

/**
 * The number of a part in its job.
 *
 * @param index its number, from 0
 * @param count how many parts the job has
 * @param job a digest of what all parts of the job must have in common, such as the input and the options; 64
 *     hexadecimal digits
 */
public record PartNumber(int index, int count, String job) {

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if the number is not below the count, or the digest is not 64 hexadecimal digits
     */
    public PartNumber {
        if (index < 0 || index >= count) {
            throw new IllegalArgumentException("part " + index + " of " + count + ", expected 0 to " + (count - 1));
        }
        if (!TokenOrigin.SHA256.matcher(job).matches()) {
            throw new IllegalArgumentException("job: found '" + job + "', expected 64 hexadecimal digits");
        }
    }
}
