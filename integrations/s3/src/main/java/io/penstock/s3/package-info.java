// SPDX-License-Identifier: Apache-2.0
/** Credentials for {@link io.penstock.remote} by the AWS SDK. */
@NullMarked
package io.penstock.s3;

import org.jspecify.annotations.NullMarked;
