-- The row that takeovers raise. Its key absorbs the repeat of this step.
INSERT INTO epoch (partition_no, value) VALUES (1, 0) ON DUPLICATE KEY UPDATE value = value
